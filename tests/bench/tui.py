"""tui: how long the terminal UI takes to appear and from a key to a paint, and its memory.

Usage: tui.py [--reduced]

All in a terminal of 120 × 40. Keys go down and sideways through a grid of 900 tasks × 50 runs,
against keys of an interface with one word in it; a paint is over when nothing has come for 20 ms.
The first paint of the list of 20,000 DAGs is compared with importing Textual and one query. The
percentile of the keys comes last.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

import cpu
from harness import FLOW, Aim, Conn, Deployment, Results, deployment, main
from stored import rooted_spec, store_dags, store_specs
from terminal import Terminal, program

from flow.graph import DagSpec, GroupSpec, TaskSpec

FIRST_PAINT: Final = Aim(1.5)
KEY: Final = Aim(3.0)
MEMORY: Final = Aim(1.0)
MOST_MEMORY: Final = 150e6
"""Bytes; the floor of a size that is to stay below it."""
DAG: Final = "a.wide"
KEYS: Final = (*[b"j"] * 60, *[b"h"] * 40, *[b"k"] * 20, *[b"l"] * 40)
IMPORTS: Final = """
import sys
import psycopg
import textual.app
import textual.screen
import textual.widgets

with psycopg.connect(sys.argv[1]) as connection:
    connection.execute("select 1").fetchall()
"""
_RUNS: Final = """
with made as (
  insert into run (dag_id, run_id, run_type, state, version, logical_date, data_interval_start,
    data_interval_end, interval_run, started_at, ended_at)
  select %(dag_id)s, 'run_' || number, 'scheduled', 'success', 1, at, at, at, false, at,
    at + number * interval '1 minute'
  from generate_series(1, %(runs)s) as number,
    lateral (select now() - number * interval '1 day' as at) as moment
  returning run_key)
insert into task_history
  (run_key, task_id, dag_id, state, pool, queue, executor, priority, ended_at)
select run_key, task_id, %(dag_id)s,
  case when hashtext(task_id || run_key) %% 50 = 0 then 'failed' else 'success' end,
  'default_pool', 'default', 'local', 1, now()
from made, unnest(%(task_ids)s::text[]) as task_id
"""


def measure(results: Results, reduced: bool) -> None:
    """Print first paint and memory, then the percentile of the keys."""
    dags, times = (2_000, 3) if reduced else (20_000, 7)
    with deployment() as flow, flow.connect() as conn:
        _fill(conn, dags)
        imports = median(_imports(flow) for _ in range(times))
        paints = []
        for _ in range(times):
            began = time.perf_counter()
            with program([*FLOW, "tui"], flow.environment) as terminal:
                terminal.await_text("Home")
                paints.append(time.perf_counter() - began)
        keys, size = _keys_of_grid(flow)
        results.line(median(paints) * 1e3, "ms to the first paint", imports * 1e3, FIRST_PAINT)
        results.line(size, "bytes of memory", MOST_MEMORY, MEMORY)
        bare = _keys_of_bare_screen(flow)
    results.line(
        _p95(keys) * 1e3,
        "ms from key to paint",
        _p95(bare) * 1e3,
        KEY,
        median_ms=round(median(keys) * 1e3, 2),
        bare_median_ms=round(median(bare) * 1e3, 2),
        keys=len(keys),
    )


def _fill(conn: Conn, dags: int) -> None:
    specs = [rooted_spec(number) for number in range(dags)]
    specs.append(_wide())
    hashes = store_specs(conn, specs)
    store_dags(conn, specs, hashes, cursor=None, due=lambda number: None)
    task_ids = [task.task_id for task in specs[-1].tasks]
    with conn.transaction():
        conn.execute(_RUNS, {"dag_id": DAG, "runs": 50, "task_ids": task_ids})
    conn.execute("vacuum analyze run, task_history")


def _wide() -> DagSpec:
    """A DAG of 900 tasks in 45 groups."""
    names = [f"part_{number // 20:02}" for number in range(900)]
    return DagSpec(
        dag_id=DAG,
        tasks=tuple(
            TaskSpec(task_id=f"{group}.task_{number:03}", operator="BashOperator", group=group)
            for number, group in enumerate(names)
        ),
        groups=tuple(GroupSpec(group_id=name) for name in sorted(set(names))),
    )


def _imports(flow: Deployment) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-c", IMPORTS, flow.dsn]
    subprocess.run(command, env=flow.environment, check=True)
    return time.perf_counter() - began


def _keys_of_grid(flow: Deployment) -> tuple[list[float], float]:
    """Seconds from each key to its paint, and the program's own memory afterwards."""
    with program([*FLOW, "tui", DAG], flow.environment) as terminal:
        terminal.await_text("50 runs")
        terminal.settle()
        return _pressed(terminal, KEYS), cpu.proportional_size([terminal.pid])


def _keys_of_bare_screen(flow: Deployment) -> list[float]:
    script = str(Path(__file__).with_name("bare_screen.py"))
    with program([sys.executable, script], flow.environment) as terminal:
        terminal.await_text("ready")
        terminal.settle()
        return _pressed(terminal, KEYS)


def _pressed(terminal: Terminal, keys: Sequence[bytes]) -> list[float]:
    """Keys at the end of what can be gone through paint nothing and do not count."""
    return [seconds for key in keys if (seconds := terminal.press(key)) is not None]


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


if __name__ == "__main__":
    main("tui", measure)
