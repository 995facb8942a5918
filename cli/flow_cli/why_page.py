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


def _name(answer: Answer) -> str:
    parts = [answer.dag_id]
    if answer.run_id is not None:
        parts.append(answer.run_id)
    if answer.task_id is not None:
        parts.append(task_reference(answer.task_id, answer.map_index))
    return "/".join(parts)


def _state(answer: Answer) -> str:
    return "no such run yet" if answer.state is None else answer.state


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
