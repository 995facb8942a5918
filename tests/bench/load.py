"""load: the 99th percentile of hops beside 5,000 runs that wait and 100 tasks that sleep.

Usage: load.py [--reduced]

Chains as in hop.py on one worker, first alone; then while 5,000 other runs each have a task in
`up_for_retry` and 100 slots of the same worker hold tasks that sleep.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from harness import Aim, Conn, Results, deployment, main, one, p99, wait_for
from hop import chain, run_chains
from runs import dag_files, let_go, many
from stored import store_dags, store_specs

from flow.decide import Ending
from flow.graph import DagSpec, TaskSpec
from flow.states import TaskState, TryState
from flow.store import processes, tries
from flow.store.connect import transaction
from flow.store.tries import Report

AIM: Final = Aim(3.0)
QUEUE: Final = "elsewhere"
BATCH: Final = 500
SLEEPING: Final = 100
_MAKE_RUNS: Final = """
with made as (
  insert into run (dag_id, version, run_id, run_type, state, logical_date, data_interval_start,
    data_interval_end, interval_run, started_at)
  select 'fails', 1, 'run_' || number, 'manual', 'running', now(), now(), now(), false, now()
  from generate_series(1, %(runs)s) number returning run_key)
insert into wakeup (kind, run_key) select 'run', run_key from made
"""
_WAITING: Final = "select count(*) from task_hot where state = 'up_for_retry'"
_SLEEPING: Final = "select count(*) from task_hot where dag_id = 'sleepers' and state = 'running'"


def measure(results: Results, reduced: bool) -> None:
    """Print the percentile under load against the quiet one."""
    chains, length, waiting, sleeping = (2, 30, 500, 20) if reduced else (4, 50, 5_000, SLEEPING)
    settings = {"FLOW_WORKER_KILL_GRACE": "0", "FLOW_WORKER_DRAIN_TIMEOUT": "0"}
    with deployment(**settings) as flow, flow.connect() as conn:
        stamps = flow.folder("stamps")
        quiet, loaded = ([f"{name}_{n}" for n in range(chains)] for name in ("quiet", "loaded"))
        texts = {name: chain(stamps, length) for name in (*quiet, *loaded)}
        texts["sleepers"] = many("sleepers", runs=1, tasks=sleeping, body="time.sleep(3600)")
        dag_files(flow, texts)
        flow.start("schedule")
        flow.start("work", "--slots", str(sleeping + 8))
        flow.await_roles(conn, "schedule", "work")
        alone = _p99(conn, stamps, quiet)
        let_go(conn, "sleepers")
        _let_runs_wait(conn, waiting)
        wait_for(lambda: one(conn, _SLEEPING) == sleeping, "the sleeping tasks")
        beside = _p99(conn, stamps, loaded)
        assert (one(conn, _WAITING), one(conn, _SLEEPING)) == (waiting, sleeping)
    results.line(beside, "ms", alone, AIM, waiting=waiting, sleeping=sleeping)


def _p99(conn: Conn, stamps: Path, names: list[str]) -> float:
    return p99(run_chains(conn, stamps, names).received)


def _let_runs_wait(conn: Conn, count: int) -> None:
    """Make runs whose only task fails and is to be tried again in an hour.

    A worker that serves their queue alone claims and reports, without running anything.
    """
    spec = DagSpec(
        dag_id="fails",
        tasks=(TaskSpec(task_id="fails", operator="PythonOperator", queue=QUEUE, retries=1),),
        max_active_runs=count,
    )
    store_dags(conn, [spec], store_specs(conn, [spec]), cursor=None, due=lambda number: None)
    with transaction(conn, "bench"):
        worker = processes.register(
            conn, role="work", host="elsewhere", pid=os.getpid(), version="bench",
            lost_after=3_600, executor="local", queues=[QUEUE], slots=BATCH,
        )  # fmt: skip
        conn.execute(_MAKE_RUNS, {"runs": count})
    conn.execute("notify flow_wake")
    wait_for(lambda: _fail_some(conn, worker) and one(conn, _WAITING) == count, "runs to wait")


def _fail_some(conn: Conn, worker: int) -> bool:
    """Report failure for what is queued; always true."""
    failure = Ending(TaskState.UP_FOR_RETRY, TryState.FAILED, delay=3_600.0)
    with transaction(conn, "bench"):
        claimed = tries.claim(
            conn, worker=worker, host="elsewhere", executor="local", queues=[QUEUE], limit=BATCH
        )
        tries.report(conn, [Report(one.key, failure) for one in claimed])
    return True


if __name__ == "__main__":
    main("load", measure)
