"""What `flow why` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from flow.task_reference import task_reference
from flow_cli.cells import counted

if TYPE_CHECKING:
    from flow.ops.why import Answer, Reason


def describe(answer: Answer) -> tuple[list[str], dict[str, Any]]:
    """An answer as lines for people, and as the JSON object that says the same."""
    zone = ZoneInfo(answer.timezone)
    lines = [f"{_name(answer)}: {_state(answer)}"]
    lines += [f"  {reason.text(zone)}" for reason in answer.reasons]
    for task in answer.tasks:
        lines += ["", f"{task_reference(task.task_id, task.map_index)}: {task.state}"]
        lines += [f"  {reason.text(zone)}" for reason in task.reasons]
    rest = answer.unfinished - len(answer.tasks)
    if rest > 0:
        lines += ["", f"{counted(rest, 'more task')} of the run have not ended"]
    return lines, _json(answer, zone)


def further(answer: Answer) -> str | None:
    """The command that goes on from an answer, if there is an obvious one."""
    from flow.ops.why import Code

    reasons = {reason.code: reason for reason in answer.reasons}
    cause = reasons.get(Code.CAUSE)
    if cause is not None and cause.refers_to is not None:
        if cause.facts["state"] == "failed":
            return f"its log: flow logs {cause.refers_to.replace('/', ' ')}"
    elif answer.state == "failed" and answer.task_id is not None:
        return f"its log: flow logs {_name(answer).replace('/', ' ')}"
    elif answer.asked is not None and {Code.PASSED, Code.NOT_CAUGHT_UP} & reasons.keys():
        return f"make it: flow run {answer.dag_id} --date {answer.asked}"
    return None


def _name(answer: Answer) -> str:
    parts = [answer.dag_id]
    if answer.run_id is not None:
        parts.append(answer.run_id)
    if answer.task_id is not None:
        parts.append(task_reference(answer.task_id, answer.map_index))
    return "/".join(parts)


def _state(answer: Answer) -> str:
    if answer.state is not None:
        return answer.state
    return "no newer run" if answer.asked is None else f"no run for {answer.asked}"


def _json(answer: Answer, zone: ZoneInfo) -> dict[str, Any]:
    return {
        "dag_id": answer.dag_id,
        "run_id": answer.run_id,
        "task_id": answer.task_id,
        "map_index": answer.map_index,
        "state": answer.state,
        "verdict": answer.verdict,
        "reasons": [_reason(reason, zone) for reason in answer.reasons],
        "tasks": [
            {
                "task_id": task.task_id,
                "map_index": task.map_index,
                "state": task.state,
                "verdict": task.verdict,
                "reasons": [_reason(reason, zone) for reason in task.reasons],
            }
            for task in answer.tasks
        ],
        "unfinished": answer.unfinished,
    }


def _reason(reason: Reason, zone: ZoneInfo) -> dict[str, Any]:
    return {
        "code": reason.code,
        "text": reason.text(zone),
        "since": reason.since,
        "refers_to": reason.refers_to,
        "facts": dict(reason.facts),
    }
