"""Which runs a verb is about that takes one run, or all of a range of intervals."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import NamedTuple

from flow.dates import parse_date
from flow.errors import NotFound, UsageError
from flow.ops.references import find_run
from flow.store import clock
from flow.store.connect import Conn
from flow.store.read import runs
from flow.store.read.dags import StoredDag
from flow.store.read.runs import Filter, FoundRun
from flow.timetables.zone import load_zone


class Which(NamedTuple):
    """One run by its reference, or the runs whose intervals start from `start` to `end`.

    All are texts as on the command line; both ends are included, a day as a whole.
    """

    reference: str | None = None
    start: str | None = None
    end: str | None = None


def find_runs(conn: Conn, dag: StoredDag, which: Which) -> list[FoundRun]:
    """The runs, oldest first; at least one. Raises `NotFound`, and `UsageError` for no choice."""
    in_range = which.start is not None or which.end is not None
    if (which.reference is None) is not in_range:
        raise UsageError(
            "it is not said which runs are meant"
            if not in_range
            else "a run and a range are named",
            f"name one run ({dag.dag_id} latest), or a range: {dag.dag_id} --from DATE --to DATE",
        )
    if which.reference is not None:
        return [find_run(conn, dag.dag_id, which.reference)]
    zone = load_zone(dag.timezone)
    limits = bounds(which.start, which.end, zone, clock.now(conn))
    found = runs.in_range(conn, Filter(dag.dag_id, None, None, *limits))
    if not found:
        raise NotFound(
            f"DAG {dag.dag_id!r} has no run whose interval starts in that range",
            f"`flow runs list {dag.dag_id}` shows its runs",
        )
    return found


def bounds(
    start: str | None, end: str | None, zone: tzinfo, now: datetime
) -> tuple[datetime | None, datetime | None, bool]:
    """The moments that date arguments mean, and whether the second is excluded (a whole day)."""
    first = parse_date(start, zone, now).start if start is not None else None
    if end is None:
        return first, None, False
    last = parse_date(end, zone, now)
    return first, last.end, last.whole_day
