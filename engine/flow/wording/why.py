"""What `flow why` answers, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from flow.task_reference import task_reference
from flow.wording.cells import counted

if TYPE_CHECKING:
    from flow.ops.why import Answer


def describe(answer: Answer) -> list[str]:
    """The state, why it is so, and the same for the tasks that it depends on."""
    zone = ZoneInfo(answer.timezone)
    lines = [f"{_name(answer)}: {_state(answer)}"]
    lines += [f"  {reason.text(zone)}" for reason in answer.reasons]
    for task in answer.tasks:
        lines += ["", f"{task_reference(task.task_id, task.map_index)}: {task.state}"]
        lines += [f"  {reason.text(zone)}" for reason in task.reasons]
    rest = answer.unfinished - len(answer.tasks)
    if rest > 0:
        have = "has" if rest == 1 else "have"
        lines += ["", f"{counted(rest, 'more task')} of the run {have} not ended"]
    return lines


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
