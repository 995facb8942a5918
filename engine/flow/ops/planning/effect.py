"""What a change of DAG files does: pure, from the DAGs before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice, takewhile
from typing import Final, NamedTuple

from flow.graph import DagSpec
from flow.graph.compare import Differences, compare
from flow.graph.plan import upcoming
from flow.ops.next_runs import NextRun, in_zone
from flow.timetables import latest_complete

_SHOWN: Final = 3
"""Next runs that are told."""
_COUNTED: Final = 1_000
"""Runs that are due at once are counted up to here."""


class Defined(NamedTuple):
    """A DAG as a tree of files defines it."""

    spec: DagSpec
    file: str
    """Within the tree."""
    code: str
    """Hash of the file and the local modules that it imports."""


class Effect(NamedTuple):
    """What becomes of one DAG."""

    dag_id: str
    file: str
    change: str
    """added · removed · changed · moved · code: only the code differs, not the graph."""
    differences: Differences | None
    schedule: str
    next_before: list[NextRun]
    next_after: list[NextRun]
    due: int
    """Runs that a new DAG makes as soon as it is not paused; at most 1000 are counted."""


def effects(
    before: Mapping[str, Defined], after: Mapping[str, Defined], now: datetime
) -> Iterator[Effect]:
    """What becomes of each DAG that is not the same, in order of id.

    No deployment is asked: every schedule is taken to stand where it stands when every run that was
    due has been made.
    """
    for dag_id in sorted(before.keys() | after.keys()):
        old, new = before.get(dag_id), after.get(dag_id)
        if new is None and old is not None:
            yield _effect(old, "removed", before=_next(old.spec, _position(old.spec, now), now))
        elif old is None and new is not None:
            due = takewhile(lambda one: one.due_at <= now, upcoming(new.spec, None, now))
            count = sum(1 for _ in islice(due, _COUNTED))
            yield _effect(new, "added", after=_next(new.spec, None, now), due=count)
        elif old is not None and new is not None:
            yield from _changed(old, new, now)


def _changed(old: Defined, new: Defined, now: datetime) -> Iterator[Effect]:
    found = compare(old.spec, new.spec)
    change = (
        "changed"
        if found.any
        else "moved"
        if old.file != new.file
        else "code"
        if old.code != new.code
        else None
    )
    if change is not None:
        position = _position(old.spec, now)
        yield _effect(
            new,
            change,
            found if found.any else None,
            before=_next(old.spec, position, now),
            after=_next(new.spec, position, now),
        )


def _effect(
    dag: Defined,
    change: str,
    differences: Differences | None = None,
    *,
    before: list[NextRun] | None = None,
    after: list[NextRun] | None = None,
    due: int = 0,
) -> Effect:
    return Effect(
        dag_id=dag.spec.dag_id,
        file=dag.file,
        change=change,
        differences=differences,
        schedule=dag.spec.timetable.words(),
        next_before=before or [],
        next_after=after or [],
        due=due,
    )


def _position(spec: DagSpec, now: datetime) -> datetime | None:
    """Where a schedule stands once its latest complete interval has got its run."""
    last = latest_complete(spec.timetable, now, spec.start_date)
    return None if last is None else spec.timetable.cursor_after(last, spec.start_date)


def _next(spec: DagSpec, cursor: datetime | None, now: datetime) -> list[NextRun]:
    found = (planned.interval for planned in upcoming(spec, cursor, now))
    return in_zone(spec, islice(found, _SHOWN))
