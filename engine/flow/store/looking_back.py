"""Looking back: what the previous runs of a chain have to say, for the runs that ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from flow.decide import NO_PAST, Past
from flow.graph import DagSpec, Graph
from flow.states import TaskState
from flow.store import past
from flow.store.connect import Conn
from flow.store.past import Previous
from flow.timetables import Never

Load = Callable[[Iterable[str]], dict[str, Graph]]
"""Graphs by the hash of their spec."""


class Asking(NamedTuple):
    """A run, some of whose tasks depend on their past; and what it knows already."""

    run_key: int
    graph: Graph
    task_ids: frozenset[str]
    known: Past | None


def look_back(conn: Conn, load: Load, asking: Sequence[Asking], *, hold: bool) -> dict[int, Past]:
    """The past of each run, in what it asks about.

    With `hold` the asking runs are locked, and the previous ones get locked and chained, so that
    who waits will be woken; a run whose previous run somebody else holds is absent then. Without it
    this is only a look.
    """
    if not asking:
        return {}
    previous = past.before(conn, [(one.run_key, _whole_chain(one.graph.spec)) for one in asking])
    held = past.find(conn, previous.values(), hold=hold) if previous else {}
    found = load(run.spec_hash for run in held.values())
    # Beside each the previous run that is held, or None where there is none.
    ready = [
        (one, held.get(previous[one.run_key]) if one.run_key in previous else None)
        for one in asking
        if one.run_key not in previous or previous[one.run_key] in held
    ]
    wanted = {
        one.run_key: _wanted(one, found[run.spec_hash]) for one, run in ready if run is not None
    }
    states = past.states(
        conn,
        [
            (run, {id for ids in wanted[one.run_key].values() for id in ids})
            for one, run in ready
            if run is not None
        ],
    )
    return {
        one.run_key: NO_PAST if run is None else _past(one, run, wanted[one.run_key], states)
        for one, run in ready
    }


def _whole_chain(spec: DagSpec) -> bool:
    """Whether all runs of a DAG are in its chain: those of one without a schedule."""
    return isinstance(spec.timetable, Never)


def _wanted(one: Asking, graph: Graph) -> dict[str, tuple[str, ...]]:
    """By task that asks and that the previous run has: that task, and what it waits for below."""
    return {
        task_id: (
            task_id,
            *(graph.downstream[task_id] if one.graph.tasks[task_id].wait_for_downstream else ()),
        )
        for task_id in one.task_ids
        if task_id in graph.tasks
    }


def _past(
    one: Asking,
    run: Previous,
    wanted: Mapping[str, tuple[str, ...]],
    states: Mapping[tuple[int, str], TaskState],
) -> Past:
    before = one.known if one.known is not None and one.known.run_key == run.run_key else NO_PAST
    return Past(
        run_key=run.run_key,
        dag_id=run.dag_id,
        run_id=run.run_id,
        state=run.state,
        paused=run.paused,
        asked=before.asked | one.task_ids,
        states={
            **before.states,
            **{id: states[run.run_key, id] for ids in wanted.values() for id in ids},
        },
        below={**before.below, **{task_id: ids[1:] for task_id, ids in wanted.items()}},
    )
