"""The verdict: what came of every run, from marks and effects alone.

`flow runs list` says which runs there are and how they ended, no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chaos.marks import Life, Mark, Place, lives
from chaos.workload import Work, intervals


@dataclass(frozen=True)
class Run:
    """A run as `flow runs list` shows it; its interval as tasks name it."""

    dag_id: str
    interval: str
    state: str


def read_run(shown: Mapping[str, str]) -> Run:
    """A run from the command's JSON."""
    return Run(shown["dag_id"], shown["data_interval_start"][:16], shown["state"])


def judge(
    works: Sequence[Work],
    runs: Sequence[Run],
    marks: list[Mark],
    effects: Mapping[Place, Sequence[str]],
    losses: Mapping[Place, int],
) -> list[str]:
    """Everything that is wrong, in sentences; nothing when all is right.

    `losses` counts tries that were lost: they may have failed, and cost no retry.
    """
    found = lives(marks)
    known = {work.dag_id for work in works}
    wrong = [f"{run.dag_id} is no DAG of this story" for run in runs if run.dag_id not in known]
    for work in works:
        own = [run for run in runs if run.dag_id == work.dag_id]
        wrong += _runs(work, own)
        for run in own:
            for task_id in work.tasks:
                place = Place(run.dag_id, run.interval, task_id)
                tries = found.pop(place, [])
                wrong += [f"{place}: {what}" for what in _tries(tries)]
                rows = effects.get(place, ())
                ended = (
                    _success(tries, rows)
                    if work.succeeds
                    else _failure(work, place, tries, rows, losses)
                )
                wrong += [f"{place}: {what}" for what in ended]
    wrong += [f"{place}: it ran, and there is no such run" for place in found]
    return wrong


def _runs(work: Work, runs: Sequence[Run]) -> Iterator[str]:
    """Every interval from the first on has one run, which ended as it must."""
    if not runs:
        yield f"{work.dag_id}: it never ran"
    there = Counter(run.interval for run in runs)
    yield from (f"{work.dag_id}/{one}: {n} runs" for one, n in there.items() if n > 1)
    due = intervals(len(there))
    yield from (f"{work.dag_id}/{one}: no run" for one in due if one not in there)
    wanted = "success" if work.succeeds else "failed"
    yield from (
        f"{work.dag_id}/{run.interval}: its run is {run.state}, not {wanted}"
        for run in runs
        if run.state != wanted
    )


def _tries(tries: Sequence[Life]) -> Iterator[str]:
    """Tries of one task follow each other: in time, and in number."""
    for before, after in pairwise(tries):
        if after.first <= before.last:
            yield f"two tries at once: {before}; {after}"
        if after.number <= before.number:
            yield f"a number did not grow: {before}; {after}"
    yield from (f"not one start: {one}" for one in tries if one.events.count("start") != 1)


def _success(tries: Sequence[Life], rows: Sequence[str]) -> Iterator[str]:
    """The last try has ended, and its effect stands alone."""
    if not tries or tries[-1].events[-1] != "end":
        yield f"its last try did not end: {tries[-1] if tries else 'it never ran'}"
    elif list(rows) != [f"{tries[-1].number}.{tries[-1].pid}"]:
        yield f"its effect does not stand once, from the last try: {list(rows)}, {tries[-1]}"


def _failure(
    work: Work,
    place: Place,
    tries: Sequence[Life],
    rows: Sequence[str],
    losses: Mapping[Place, int],
) -> Iterator[str]:
    """The first task fails as often as it may and no more; nothing follows it."""
    if rows:
        yield f"it cannot succeed, and its effect stands: {list(rows)}"
    if place.task_id != work.tasks[0]:
        yield from (f"it ran, and what it waits for has failed: {one}" for one in tries)
    failed = sum(one.events[-1] == "failed" for one in tries)
    allowed = work.retries + 1 + losses.get(place, 0)
    if failed > allowed:
        yield f"it failed {failed} times, and may {allowed} times"
