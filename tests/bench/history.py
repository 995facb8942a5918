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
import past_runs
from harness import Aim, Conn, Deployment, Results, deployment, main, one, wait_for
from runs import dag_files, let_go, many
from stored import ROOTS

AIM: Final = Aim(0.9, at_least=True)
SLOTS: Final = 8
TASKS: Final = 25
RUNS: Final = 2_000
AT_ONCE: Final = 40
_TRIES: Final = int(os.environ.get("FLOW_BENCH_TRIES", "2000000"))
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
            # The burst is to create the runs of yesterday.
            past = sizes.tries // past_runs.TASKS
            past_runs.write_ended(conn, dags=sizes.dags, runs=past, until="yesterday")
        with _held_snapshot(flow, held=old):
            throughput = _throughput(flow, conn, sizes)
            seconds = burst.await_queued(conn, burst.fall_due(conn, sizes.due), sizes.due)
        return Rates(throughput, sizes.due * ROOTS / seconds)


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
