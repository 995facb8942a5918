"""Which runs a verb is about that takes one run, or all of a range of intervals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, tzinfo
from typing import Final, NamedTuple

from flow.dates import parse_date
from flow.errors import NotFound, UsageError
from flow.ops import where
from flow.ops.references import find_dags_like, find_run
from flow.states import RunState, RunType
from flow.store import clock
from flow.store.connect import Conn
from flow.store.read import runs
from flow.store.read.dags import StoredDag
from flow.store.read.runs import Filter, FoundRun, Run
from flow.timetables.zone import load_zone

RunName = tuple[str, str]
"""What names a run: dag_id and run_id."""
RUN_WORDS: Final[where.Words] = {"state": tuple(RunState), "run_type": tuple(RunType)}
"""Of the fields of runs that are one of a few words."""


class Which(NamedTuple):
    """One run by its reference, or the runs whose intervals start from `start` to `end`.

    All are texts as on the command line; both ends are included, a day as a whole. `where` is a
    condition on the fields of runs (`flow.ops.where`); without a range it is about every run.
    """

    reference: str | None = None
    start: str | None = None
    end: str | None = None
    where: str | None = None


class RunCondition(NamedTuple):
    """A condition on runs, and the state and type that all of them have, if it is one."""

    fits: Callable[[Run], bool]
    state: str | None
    run_type: str | None


def find_runs(
    conn: Conn, dag: str, which: Which, only: Collection[RunName] | None = None
) -> list[FoundRun]:
    """The runs of a DAG, or of those that a glob names; of each the oldest first.

    `only` narrows them. Of several DAGs, those that have no such run are left out. Raises
    `NotFound` where there is none, and `UsageError` for no choice.
    """
    dags = find_dags_like(conn, dag)
    found, missing = [], []
    for one in dags:
        try:
            found += find_runs_of(conn, one, which)
        except NotFound as error:
            missing.append(error)
    if missing and not found:
        raise missing[0]
    if only is None:
        return found
    return [one for one in found if (one.run.dag_id, one.run.run_id) in only]


def find_runs_of(
    conn: Conn, dag: StoredDag, which: Which, fits: Callable[[Run], bool] | None = None
) -> list[FoundRun]:
    """The runs of one DAG, the oldest first; at least one. Raises what `find_runs` raises.

    `fits` is the condition of `which`, for who reads it in a way of its own.
    """
    in_range = any(one is not None for one in which[1:])
    if (which.reference is None) is not in_range:
        raise UsageError(
            "it is not said which runs are meant"
            if not in_range
            else "a run and a range are named",
            f"name one run ({dag.dag_id} latest), or a range: {dag.dag_id} --from DATE --to DATE",
        )
    if which.reference is not None:
        return [find_run(conn, dag.dag_id, which.reference)]
    zone, now = load_zone(dag.timezone), clock.now(conn)
    if fits is None and which.where is not None:
        fits = read_condition(which.where, zone, now).fits
    limits = bounds(which.start, which.end, zone, now)
    found = runs.in_range(conn, Filter(dag.dag_id, None, None, *limits))
    if fits is not None:
        found = [one for one in found if fits(one.run)]
    if not found:
        raise NotFound(
            f"DAG {dag.dag_id!r} has no run "
            + (f"where {which.where}" if fits else "whose interval starts in that range"),
            f"`flow runs list {dag.dag_id}` shows its runs",
        )
    return found


def read_condition(text: str, zone: tzinfo, now: datetime) -> RunCondition:
    """Read a condition on the fields of runs. Raises `UsageError`."""
    parts = where.parts(text, where.fields_of(Run, zone, now, RUN_WORDS))

    def fits(run: Run) -> bool:
        row = run._asdict()
        return all(part.fits(row) for part in parts)

    return RunCondition(fits, _only(parts, "state"), _only(parts, "run_type"))


def _only(parts: Sequence[where.Part], field: str) -> str | None:
    """The one word that a field must be, so that an index can find the runs; None: several."""
    asked = [part for part in parts if part.fields == {field}]
    possible = [
        word for word in RUN_WORDS[field] if all(part.fits({field: word}) for part in asked)
    ]
    return str(possible[0]) if len(possible) == 1 else None


def bounds(
    start: str | None, end: str | None, zone: tzinfo, now: datetime
) -> tuple[datetime | None, datetime | None, bool]:
    """The moments that date arguments mean, and whether the second is excluded (a whole day).

    Raises `UsageError` for what is no date, and where the second comes before the first.
    """
    first = parse_date(start, zone, now).start if start is not None else None
    if end is None:
        return first, None, False
    last = parse_date(end, zone, now)
    if first is not None and (last.end <= first if last.whole_day else last.end < first):
        raise UsageError(f"--from {start} is after --to {end}", "give the earlier one as --from")
    return first, last.end, last.whole_day
