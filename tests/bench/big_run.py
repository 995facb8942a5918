"""big_run: what a task of a run of 10,000 costs, against one of a run of 100.

Usage: big_run.py [--reduced]

Two shapes: chains side by side, and dense layers (each task waits for the whole layer before). A
driver claims and reports through the store, 20 tasks at a time; of the small runs two go side by
side, so that 20 end at a time there as well. Counted is the CPU of `flow schedule` and PostgreSQL
without the driver's own backends. The worse shape counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from datetime import datetime

import cpu
from harness import PATIENCE, Aim, Conn, Deployment, Results, deployment, main, one
from psycopg import sql
from stored import store_dags, store_specs

from flow.decide import Ending
from flow.graph import DagSpec, TaskSpec
from flow.states import RunState, RunType, TaskState, TryState
from flow.store import processes, runs, tries, wakeups
from flow.store.connect import transaction
from flow.store.notify import QUEUED, WAKE, Notifier
from flow.store.runs import NewRun
from flow.store.tries import Claimed, Report

AIM = Aim(2.0)
AT_ONCE = 20
SMALL = 10
SIDE_BY_SIDE = 2


def measure(results: Results, reduced: bool) -> None:
    """Print CPU per task for both shapes, the worse one last."""
    large, rounds = (30, 5) if reduced else (100, 25)
    found = []
    with deployment() as flow, flow.connect() as conn:
        specs = [
            _spec(f"{shape}_{size}", size, waits)
            for shape, waits in (("chains", _chain), ("dense", _layers))
            for size in (SMALL, large)
        ]
        hashes = store_specs(conn, specs)
        store_dags(conn, specs, hashes, cursor=None, due=lambda number: None)
        scheduler = flow.start("schedule")
        flow.await_roles(conn, "schedule")
        sizes = {spec.dag_id: len(spec.tasks) for spec in specs}
        with Driver(flow, conn, scheduler.pid, sizes) as driver:
            driver.run("chains_10", 1)  # what is done once in a scheduler's life is not counted
            for shape in ("chains", "dense"):
                small = driver.cost(f"{shape}_{SMALL}", rounds, SIDE_BY_SIDE)
                big = driver.cost(f"{shape}_{large}", 1, 1)
                found.append((big, small, shape))
    for big, small, shape in sorted(found, key=lambda one: one[0] / one[1]):
        results.line(big * 1000, "ms/task", small * 1000, AIM, shape=shape, tasks=large * large)


def _spec(dag_id: str, size: int, waits: Callable[[int, int, int], Sequence[str]]) -> DagSpec:
    """`size` layers of `size` tasks; `waits` names what a task waits for."""
    tasks = [
        TaskSpec(
            task_id=_name(layer, place),
            operator="PythonOperator",
            upstream=tuple(waits(size, layer, place)),
        )
        for layer in range(size)
        for place in range(size)
    ]
    return DagSpec(dag_id=dag_id, tasks=tuple(tasks), max_active_tasks=len(tasks))


def _name(layer: int, place: int) -> str:
    return f"task_{layer:02}_{place:02}"


def _chain(size: int, layer: int, place: int) -> Sequence[str]:
    return (_name(layer - 1, place),) if layer else ()


def _layers(size: int, layer: int, place: int) -> Sequence[str]:
    return [_name(layer - 1, other) for other in range(size)] if layer else ()


class Driver:
    """Plays the worker: claims and reports, without running anything."""

    def __init__(self, flow: Deployment, conn: Conn, scheduler: int, sizes: dict[str, int]) -> None:
        self._conn = conn
        self._sizes = sizes
        self._ear = flow.connect()
        self._ear.execute(sql.SQL("listen {}").format(sql.Identifier(QUEUED)))
        self._notifier = Notifier()
        self._counted = (scheduler, cpu.postmaster(flow.server))
        self._own = (conn.info.backend_pid, self._ear.info.backend_pid)
        with transaction(conn, "work.register"):
            self._worker = processes.register(
                conn, role="work", host="driver", pid=os.getpid(), version="bench",
                lost_after=3_600, executor="local", queues=["default"], slots=AT_ONCE,
            )  # fmt: skip

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        self._ear.close()

    def cost(self, dag_id: str, rounds: int, side_by_side: int) -> float:
        """Seconds of CPU per task of so many rounds of runs side by side."""
        before = cpu.of_trees(self._counted, self._own)
        for _ in range(rounds):
            self.run(dag_id, side_by_side)
        spent = cpu.of_trees(self._counted, self._own) - before
        return spent / (self._sizes[dag_id] * rounds * side_by_side)

    def run(self, dag_id: str, count: int) -> None:
        """Make runs and serve them to their ends."""
        self._make_runs(dag_id, count)
        deadline = time.monotonic() + PATIENCE
        while True:
            with transaction(self._conn, "work.claim"):
                taken = tries.claim(
                    self._conn, worker=self._worker, host="driver", executor="local",
                    queues=["default"], limit=AT_ONCE,
                )  # fmt: skip
            if taken:
                self._report(taken)
            elif not one(self._conn, _UNFINISHED):
                return
            else:
                assert time.monotonic() < deadline, f"{dag_id} does not end"
                self._hear()

    def _make_runs(self, dag_id: str, count: int) -> None:
        now: datetime = one(self._conn, "select clock_timestamp()")
        for number in range(count):
            run_id = f"manual__{now.isoformat()}_{number}"
            new = NewRun(
                dag_id=dag_id, version=1, run_id=run_id, run_type=RunType.MANUAL,
                state=RunState.RUNNING, logical_date=now, start=now, end=now, interval_run=False,
            )  # fmt: skip
            with transaction(self._conn, "ops.run"):
                made = runs.create(self._conn, [new])
                wakeups.wake_runs(self._conn, [(made[dag_id], None, None)])
        self._notifier.send(self._conn, WAKE)

    def _report(self, taken: list[Claimed]) -> None:
        success = Ending(TaskState.SUCCESS, TryState.SUCCESS)
        ended = [Report(one.key, success) for one in taken]
        with transaction(self._conn, "work.report"):
            assert len(tries.report(self._conn, ended)) == len(taken)
        self._notifier.send(self._conn, WAKE)
        self._notifier.pay(self._conn)

    def _hear(self) -> None:
        """Wait until tasks are queued, or for a moment: a run may have ended."""
        owed = self._notifier.pay(self._conn)
        for _ in self._ear.notifies(timeout=owed or 0.05, stop_after=1):
            pass


_UNFINISHED = "select exists(select from run where state in ('queued', 'running'))"


if __name__ == "__main__":
    main("big_run", measure)
