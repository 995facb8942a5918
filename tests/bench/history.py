"""history: burst and throughput on top of 2 million finished tries, and beside an old snapshot.

Usage: history.py [--reduced]

First on an empty database, then on one with a history of that many tries, beside a transaction
whose snapshot was opened before a warm-up of 60 s and is held to the end. Throughput is that of
a worker with 8 slots over the last 20 s, for tasks that do nothing; the burst comes after it. This
bench takes several minutes; FLOW_BENCH_TRIES says how many tries are to lie in history.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import burst
from harness import Aim, Conn, Deployment, Results, deployment, main, one, wait_for
from runs import dag_files, let_go, many
from stored import ROOTS

AIM: Final = Aim(0.9, at_least=True)
SLOTS: Final = 8
TASKS: Final = 25
RUNS: Final = 2_000
AT_ONCE: Final = 40
_TRIES: Final = int(os.environ.get("FLOW_BENCH_TRIES", "2000000"))
_STEP: Final = 100_000
"""Tries written in one transaction."""
_FINISHED_RUNS: Final = """
insert into run (run_key, dag_id, version, run_id, run_type, state, logical_date,
  data_interval_start, data_interval_end, interval_run, started_at, ended_at)
select run_key_floor(date_trunc('month', now())) + number, dag_id, 1, 'past_' || number,
  'scheduled', 'success', start, start, start + interval '1 day', true, start, start
from generate_series(%(first)s::int, %(last)s::int) number
cross join lateral (select number %% %(dags)s::int) as of_place(place)
cross join lateral (select 'team' || place %% 40 || '.dag_' || place) as of_dag(dag_id)
cross join lateral (select timestamptz '2020-01-01' + number / %(dags)s::int * interval '1 day')
  as of_day(start)
"""
_FINISHED_TASKS: Final = """
insert into task_history (run_key, task_id, dag_id, state, try_number, claim, pool, queue, executor,
  priority, scheduled_at, queued_at, started_at, ended_at)
select run_key, 'task_' || place, dag_id, 'success', 1, 1, 'default_pool', 'default', 'local', 1,
  started_at, started_at, started_at, ended_at
from run cross join generate_series(1, %(tasks)s::int) place
where run_key between run_key_floor(date_trunc('month', now())) + %(first)s::bigint
  and run_key_floor(date_trunc('month', now())) + %(last)s::bigint
"""
_FINISHED_TRIES: Final = """
insert into try_history (run_key, task_id, try_number, claim, state, started_at, ended_at, worker,
  host, pid, executor, queue, exit_code, peak_rss, cpu_time, log)
select run_key, task_id, 1, 1, 'success', started_at, ended_at, 1, 'host', 1, 'local', 'default', 0,
  50000000, 0.01, '/var/lib/flow/logs/' || dag_id || '/' || run_key || '/' || task_id || '/1.log'
from task_history
where run_key between run_key_floor(date_trunc('month', now())) + %(first)s::bigint
  and run_key_floor(date_trunc('month', now())) + %(last)s::bigint
"""
_MADE: Final = "select count(*) from run where dag_id = 'many'"
_UNFINISHED: Final = "select exists(select from run where dag_id = 'many' and ended_at is null)"
_ENDED: Final = """
select count(*) from task
where dag_id = 'many' and ended_at > %(until)s - make_interval(secs => %(seconds)s)
  and ended_at <= %(until)s
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of what; times in seconds."""

    dags: int
    due: int
    tries: int
    warm_up: float
    counted: float


FULL: Final = Sizes(20_000, 8_000, _TRIES, 60.0, 20.0)
REDUCED: Final = Sizes(1_000, 400, 20_000, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class Rates:
    """Tasks a second."""

    throughput: float
    burst: float


def measure(results: Results, reduced: bool) -> None:
    """Print both rates against those of an empty database, the worse one last."""
    sizes = REDUCED if reduced else FULL
    empty = _rates(sizes, old=False)
    full = _rates(sizes, old=True)
    lines = [
        ("throughput", full.throughput, empty.throughput),
        ("burst", full.burst, empty.burst),
    ]
    for of, value, floor in sorted(lines, key=lambda line: line[1] / line[2], reverse=True):
        results.line(value, "tasks/s", floor, AIM, of=of, history=sizes.tries)


def _rates(sizes: Sizes, *, old: bool) -> Rates:
    with deployment() as flow, flow.connect() as conn:
        burst.store(conn, sizes.dags)
        dag_files(
            flow,
            {"many": many("many", runs=RUNS, tasks=TASKS, body="return None", at_once=AT_ONCE)},
        )
        if old:
            _write_history(conn, sizes)
        with _held_snapshot(flow, held=old):
            throughput = _throughput(flow, conn, sizes)
            seconds = burst.await_queued(conn, burst.fall_due(conn, sizes.due), sizes.due)
        return Rates(throughput, sizes.due * ROOTS / seconds)


def _write_history(conn: Conn, sizes: Sizes) -> None:
    """Finished runs of the stored DAGs, with their tasks and tries, as they would have become."""
    runs = sizes.tries // TASKS
    for first in range(0, runs, _STEP // TASKS):
        values = {"first": first, "last": min(first + _STEP // TASKS, runs) - 1}
        with conn.transaction():
            conn.execute(_FINISHED_RUNS, values | {"dags": sizes.dags})
            conn.execute(_FINISHED_TASKS, values | {"tasks": TASKS})
            conn.execute(_FINISHED_TRIES, values)
    conn.execute("vacuum analyze run, task_history, try_history")
    conn.execute("checkpoint")


@contextmanager
def _held_snapshot(flow: Deployment, *, held: bool) -> Iterator[None]:
    """A transaction that keeps what dies from being removed, in case it is to be `held`."""
    with flow.connect() as conn:
        if held:
            conn.execute("begin isolation level repeatable read")
            conn.execute("select count(*) from dag")
        yield


def _throughput(flow: Deployment, conn: Conn, sizes: Sizes) -> float:
    """Tasks a second at the end of a time of steady work; scheduler and idle worker stay."""
    flow.start("schedule")
    flow.start("work", "--slots", "0")
    worker = flow.start("work", "--slots", str(SLOTS))
    flow.await_roles(conn, "schedule", "work", "work")
    let_go(conn, "many")
    time.sleep(sizes.warm_up + sizes.counted)
    until = one(conn, "select clock_timestamp()")
    assert one(conn, _MADE) < RUNS, "the work was over too soon"
    conn.execute("update dag set paused = true where dag_id = 'many'")
    wait_for(lambda: not one(conn, _UNFINISHED), "the runs that have begun")
    flow.stop(worker)
    ended: int = one(conn, _ENDED, {"until": until, "seconds": sizes.counted})
    return ended / sizes.counted


if __name__ == "__main__":
    main("history", measure)
