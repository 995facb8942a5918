"""Waiting for the end of a run, by polling: only roles listen."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from flow.errors import NotFound
from flow.graph import Graph
from flow.ops.references import load_graph
from flow.states import FINISHED, FINISHED_RUNS, RunState, TaskState
from flow.store.connect import Conn
from flow.store.read import changes, runs, tasks
from flow.store.read.runs import FoundRun

GLANCE: Final = 0.1
"""Seconds between two looks at whether anything changed."""
LOOK: Final = 2.0
"""Seconds after which the run is looked at anyway."""


class Progress(NamedTuple):
    """How far a run has come, in tasks."""

    found: FoundRun
    done: int
    total: int

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return RunState(self.found.run.state) in FINISHED_RUNS


def follow(conn: Conn, found: FoundRun) -> Iterator[Progress]:
    """Yield how a run is coming on, whenever something may have changed, until it has ended."""
    graph = load_graph(conn, found.spec_hash)
    while True:
        seen = changes.counter(conn)
        progress = _look(conn, graph, found)
        yield progress
        if progress.over:
            return
        until_changed(conn, seen)


def until_changed(conn: Conn, seen: int) -> None:
    """Wait until something has changed since the counter was `seen`, or for `LOOK` seconds."""
    began = time.monotonic()
    while changes.counter(conn) == seen and time.monotonic() - began < LOOK:
        time.sleep(GLANCE)


def _look(conn: Conn, graph: Graph, found: FoundRun) -> Progress:
    now = runs.by_id(conn, found.run.dag_id, found.run.run_id)
    if now is None:
        raise NotFound(f"run {found.run.run_id!r} has been deleted", "there is nothing to wait for")
    counted = tasks.counts(conn, [found.run_key])
    done = sum(one.instances for one in counted if TaskState(one.state) in FINISHED)
    total = len(graph.tasks.keys() - {one.task_id for one in counted})
    return Progress(now, done, total + sum(one.instances for one in counted))
