"""Waiting for the end of runs, by polling: only roles listen."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from flow.errors import NotFound
from flow.graph import Graph
from flow.ops.references import load_graphs
from flow.states import FINISHED, FINISHED_RUNS, RunState, TaskState
from flow.store.connect import Conn
from flow.store.read import changes, runs, tasks
from flow.store.read.runs import FoundRun

GLANCE: Final = 0.1
"""Seconds between two looks at whether anything changed."""
LOOK: Final = 2.0
"""Seconds after which the run is looked at anyway."""

PACE_OF_SEVERAL: Final = 0.5
"""Seconds between two looks at several runs, at least."""


class Progress(NamedTuple):
    """How far runs have come, together, in tasks."""

    runs: list[FoundRun]
    done: int
    total: int

    @property
    def ended(self) -> list[FoundRun]:
        """The runs that have ended."""
        return [one for one in self.runs if RunState(one.run.state) in FINISHED_RUNS]

    @property
    def over(self) -> bool:
        """Whether all of the runs have ended."""
        return len(self.ended) == len(self.runs)


def follow(conn: Conn, found: Sequence[FoundRun]) -> Iterator[Progress]:
    """Yield how runs are coming on, whenever something may have changed, until all have ended.

    Raises `NotFound` when one of them is deleted meanwhile.
    """
    run_keys = [one.run_key for one in found]
    graphs: dict[str, Graph] = {}
    while True:
        seen = changes.counter(conn)
        now = runs.by_keys(conn, run_keys)
        _require(found, now)
        graphs |= load_graphs(conn, {one.spec_hash for one in now.values()} - graphs.keys())
        progress = _look(conn, graphs, [now[run_key] for run_key in run_keys])
        yield progress
        if progress.over:
            return
        if len(found) > 1:
            time.sleep(PACE_OF_SEVERAL)
        until_changed(conn, seen)


def until_changed(conn: Conn, seen: int) -> None:
    """Wait until something has changed since the counter was `seen`, or for `LOOK` seconds."""
    began = time.monotonic()
    while changes.counter(conn) == seen and time.monotonic() - began < LOOK:
        time.sleep(GLANCE)


def _require(found: Sequence[FoundRun], now: Mapping[int, FoundRun]) -> None:
    for one in found:
        if one.run_key not in now:
            raise NotFound(
                f"run {one.run.run_id!r} has been deleted", "there is nothing to wait for"
            )


def _look(conn: Conn, graphs: Mapping[str, Graph], found: list[FoundRun]) -> Progress:
    counted = tasks.counts(conn, [one.run_key for one in found])
    done = sum(one.instances for one in counted if TaskState(one.state) in FINISHED)
    with_rows = {(one.run_key, one.task_id) for one in counted}
    without_row = sum(
        (one.run_key, task_id) not in with_rows
        for one in found
        for task_id in graphs[one.spec_hash].tasks
    )
    return Progress(found, done, without_row + sum(one.instances for one in counted))
