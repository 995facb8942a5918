"""Whether two runs of a task left the same: decided from what was measured after each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from flow.ops.rehearsal.news import Contents, OutputResult, Verdict
from flow.ops.rehearsal.part import Part
from flow.process.messages import Figures, Measure, Measured
from flow.states import TaskState


class Round(NamedTuple):
    """One of the two runs: its tasks, and what those of them that succeeded left."""

    parts: Mapping[str, Part]
    measured: Mapping[str, Measured]


def compare(first: Round, second: Round) -> list[OutputResult]:
    """Every outlet of every task, upstream first; a task without any has one line that says so."""
    return [
        one
        for task_id, part in first.parts.items()
        for one in _task(part, second.parts[task_id], first, second)
    ]


def proven(outputs: list[OutputResult]) -> bool:
    """Whether something was compared and nothing speaks against it."""
    verdicts = {one.verdict for one in outputs}
    return Verdict.SAME in verdicts and not verdicts & {Verdict.DIFFERS, Verdict.FAILED}


def _task(before: Part, after: Part, first: Round, second: Round) -> Iterator[OutputResult]:
    if before.state is not TaskState.SUCCESS:
        yield _whole(before, Verdict.NOTHING, f"it is {before.state.value}")
    elif after.state is not TaskState.SUCCESS:
        reason = f"it is {after.state.value} the second time"
        reason += f": {after.reason}" if after.reason else ""
        yield _whole(before, Verdict.FAILED, reason)
    elif not before.spec.outlets:
        yield _whole(before, Verdict.NOTHING, "it declares no outlets")
    else:
        yield from _outlets(before, first.measured[before.task_id], second.measured[before.task_id])


def _outlets(part: Part, before: Measured, after: Measured) -> Iterator[OutputResult]:
    error = before.error or after.error
    if error is not None:
        yield _whole(part, Verdict.FAILED, error)
        return
    absent = Measure(name="?", error="it is declared in one of both runs only")
    for pair in zip_longest(before.outlets, after.outlets, fillvalue=absent):
        yield _outlet(part, *pair)


def _whole(part: Part, verdict: Verdict, reason: str) -> OutputResult:
    return OutputResult(part.dag_id, part.task_id, None, verdict, None, None, reason)


def _outlet(part: Part, before: Measure, after: Measure) -> OutputResult:
    verdict, reason = _judge(before, after)
    return OutputResult(
        part.dag_id,
        part.task_id,
        before.name,
        verdict,
        _contents(before.figures),
        _contents(after.figures),
        reason,
    )


def _judge(before: Measure, after: Measure) -> tuple[Verdict, str | None]:
    error = before.error or after.error
    if error is not None:
        return Verdict.FAILED, f"it cannot be measured: {error}"
    if before.name != after.name:
        return Verdict.DIFFERS, f"the second run names another one: {after.name}"
    old, new = before.figures, after.figures
    if old == new:
        if old is None or old.count == 0:
            return Verdict.NOTHING, "nothing of the interval is there after either run"
        return Verdict.SAME, None
    if old is not None and new is not None and (old.count, old.bytes) == (new.count, new.bytes):
        return Verdict.DIFFERS, "as much of it, with other content"
    return Verdict.DIFFERS, None


def _contents(figures: Figures | None) -> Contents | None:
    return Contents(figures.count, figures.bytes, figures.digest) if figures is not None else None
