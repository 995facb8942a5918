"""What backfills do, in words: the plan of one, and how it stands."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from flow.wording.cells import counted, duration_text, text_of

if TYPE_CHECKING:
    from flow.ops.backfill_plan import BackfillPlan, PlannedInterval
    from flow.ops.backfills import CancelledBackfill
    from flow.store.read.backfills import Backfill

IN_FULL: Final = 14
"""Intervals that are named one by one; of more only how many there are."""
NOTHING: Final = "nothing to do: every interval has a run"
_WORDS: Final = {"create": "get a run", "clear": "run again", "skip": "left alone"}


def describe(plan: BackfillPlan) -> list[str]:
    """What becomes of the intervals, and how long that may take."""
    starts = sorted(one.data_interval_start for one in plan.intervals)
    lines = [
        f"{plan.dag_id}: {counted(len(plan.intervals), 'interval')} from {text_of(starts[0])} to "
        f"{text_of(starts[-1])}, {pace(plan)}"
    ]
    for action, word in _WORDS.items():
        some = [one for one in plan.intervals if one.action == action]
        if some:
            lines.append(f"  {word}: {len(some)}{_states(some)}")
    if len(plan.intervals) <= IN_FULL:
        lines += [f"    {_interval(one)}" for one in plan.intervals]
    if plan.tasks is not None:
        lines.append(f"  tasks: {', '.join(plan.tasks)} ({len(plan.tasks)} of {plan.dag_tasks})")
    if plan.count("clear"):
        what = "all tasks" if plan.tasks is None else "these tasks"
        version = "the latest version" if plan.version == "latest" else "their own version"
        lines.append(f"  cleared: {what} of the runs that run again, with {version}")
    if plan.estimate_s is not None and plan.run_s is not None:
        lines.append(
            f"  estimated: {duration_text(plan.estimate_s)} "
            f"(a whole run usually takes {duration_text(plan.run_s)})"
        )
    elif plan.runs:
        lines.append("  estimated: nothing to go by, no run has succeeded lately")
    return lines


def pace(one: BackfillPlan | Backfill) -> str:
    """In which order the runs go, and how many at a time."""
    return f"{one.order} first, {one.max_active_runs} at a time"


def question(plan: BackfillPlan) -> str:
    """What somebody has to agree to."""
    new, again = plan.count("create"), plan.count("clear")
    parts = [counted(new, "new run")] if new else []
    parts += [f"{counted(again, 'run')} again"] if again else []
    return f"Start a backfill of {plan.dag_id} with {' and '.join(parts)}?"


def summary(backfill: Backfill) -> str:
    """One line: how a backfill stands."""
    parts = [f"{backfill.done} of {backfill.total} runs have succeeded"]
    for number, word in (
        (backfill.failed, "failed"),
        (backfill.running, "running"),
        (backfill.waiting, "waiting"),
    ):
        if number:
            parts.append(f"{number} {word}")
    return f"backfill {backfill.id} of {backfill.dag_id} is {backfill.state}: {', '.join(parts)}"


def again(backfill: Backfill) -> str:
    """How to look at it again, or end it."""
    return (
        f"see how it is doing: flow backfills show {backfill.id} -f; "
        f"end it: flow backfills cancel {backfill.id}"
    )


def goes_on(backfill: Backfill) -> str:
    """What is told to somebody who stops looking at it."""
    return f"backfill {backfill.id} goes on; {again(backfill)}"


def question_to_cancel(backfill: Backfill) -> str:
    """What somebody has to agree to who ends one."""
    return f"Cancel backfill {backfill.id} of {backfill.dag_id}?"


def describe_cancelled(done: CancelledBackfill) -> list[str]:
    """What becomes of its runs and of what waits."""
    lines = [f"{run.run_id}: {run.before} -> {run.after}" for run in done.runs]
    waiting = counted(done.waiting, "interval")
    return [*lines, f"{waiting} of {done.backfill.dag_id} without a turn so far: no change"]


def _states(some: list[PlannedInterval]) -> str:
    counts = Counter(str(one.run_state) for one in some if one.run_state is not None)
    states = ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))
    return f" ({states})" if states else ""


def _interval(one: PlannedInterval) -> str:
    what = f"{text_of(one.data_interval_start)}: {_WORDS[one.action]}"
    if one.run_id is not None:
        what += f", {one.run_id} ({one.run_state})"
    return what
