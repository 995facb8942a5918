"""`flow runs list` and `show`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple

from flow.ops.deployment import Deployment
from flow.ops.paging import in_pages
from flow.ops.references import find_run, find_run_and_graph, zone_of
from flow.ops.run_ranges import bounds, read_condition
from flow.states import TaskState
from flow.store import clock
from flow.store.read import runs, tasks
from flow.store.read.page import Page, Total
from flow.store.read.runs import Filter, ListedRun, Run


class Asked(NamedTuple):
    """Which runs are meant. `start` and `end` are date arguments that select interval starts.

    Both ends are included, a day as a whole. A date without an offset is in the DAG's time zone,
    over all DAGs in the default one.
    """

    dag_id: str | None = None
    state: str | None = None
    run_type: str | None = None
    start: str | None = None
    end: str | None = None
    where: str | None = None
    """A condition on their fields (`flow.ops.where`)."""


class _Wanted(NamedTuple):
    filter: Filter
    fits: Callable[[Run], bool] | None


ALL: Final = Asked()


class RunDetails(NamedTuple):
    """One run, and how many of its task instances are in which state."""

    run: Run
    reason: str | None
    paused: bool
    archived: bool
    tasks: dict[str, int]


def page(deployment: Deployment, asked: Asked = ALL, limit: int | None = None) -> Page[Run]:
    """Runs, newest first. Raises `NotFound` for a DAG that does not exist.

    With a condition no more is read than the page needs, so of the rest only is known that there
    is some.
    """
    if asked.where is not None:
        rows = list(islice(every(deployment, asked), None if limit is None else limit + 1))
        more = limit is not None and len(rows) > limit
        return Page(rows[:limit], Total(len(rows) - more, exact=not more))
    with deployment.snapshot():
        return runs.page(deployment.conn, _wanted(deployment, asked).filter, limit)


def every(deployment: Deployment, asked: Asked) -> Iterator[Run]:
    """All runs that `page` would have, read a page at a time. Raises what it does."""
    conn = deployment.conn
    with deployment.snapshot():
        wanted, fits = _wanted(deployment, asked)

    def read(last: ListedRun | None, limit: int) -> list[ListedRun]:
        return runs.behind(conn, wanted, last, limit)

    listed = (one.run for one in in_pages(deployment, read))
    return listed if fits is None else filter(fits, listed)


def reach(
    deployment: Deployment, dag_id: str, references: Sequence[str]
) -> tuple[datetime, datetime]:
    """The starts of the first and the last interval of some runs. Raises `NotFound`."""
    with deployment.snapshot():
        starts = [
            find_run(deployment.conn, dag_id, one).run.data_interval_start for one in references
        ]
    return min(starts), max(starts)


def show(deployment: Deployment, dag_id: str, reference: str) -> RunDetails:
    """One run. Raises `NotFound`."""
    conn = deployment.conn
    with deployment.snapshot():
        found, graph = find_run_and_graph(conn, dag_id, reference)
        counts: Counter[str] = Counter()
        counted = tasks.counts(conn, [found.run_key])
        for one in counted:
            counts[one.state] += one.instances
        without_row = len(graph.tasks.keys() - {one.task_id for one in counted})
        if without_row:
            counts[TaskState.NONE.value] += without_row
    order = {state.value: position for position, state in enumerate(TaskState)}
    in_order = dict(sorted(counts.items(), key=lambda item: order[item[0]]))
    return RunDetails(found.run, found.reason, found.paused, found.archived, in_order)


def _wanted(deployment: Deployment, asked: Asked) -> _Wanted:
    conn = deployment.conn
    zone = zone_of(conn, asked.dag_id, deployment.settings.dags.default_timezone)
    now = clock.now(conn)
    between = bounds(asked.start, asked.end, zone, now)
    if asked.where is None:
        return _Wanted(Filter(asked.dag_id, asked.state, asked.run_type, *between), None)
    condition = read_condition(asked.where, zone, now)
    state, run_type = asked.state or condition.state, asked.run_type or condition.run_type
    return _Wanted(Filter(asked.dag_id, state, run_type, *between), condition.fits)
