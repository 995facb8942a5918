"""tui: how long the terminal UI takes to appear and from a key to a paint, and its memory.

Usage: tui.py [--reduced]

All in a terminal of 120 × 40. Keys go down and sideways through a grid of 900 tasks × 50 runs,
against keys of an interface with one word in it; a paint is over when nothing has come for 20 ms.
With 20,000 DAGs, the first paint of what Home says of them and that of their list are compared with
importing Textual and one query: the time from the start of the process until something that stands
in the database stands on the screen. In full, keys also go through a year of the grid, 900 tasks ×
365 runs, from its end to its beginning, and what its windows cost the database is explained. The
percentile of the keys in the smaller grid comes last.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

import cpu
from explained import cost_of
from harness import FLOW, Aim, Conn, Deployment, Results, deployment, main
from stored import rooted_spec, store_dags, store_specs
from terminal import Terminal, program

from flow.config import load
from flow.graph import DagSpec, GroupSpec, TaskSpec
from flow.ops import grid_window
from flow.ops.deployment import Deployment as Opened

FIRST_PAINT: Final = Aim(1.5)
KEY: Final = Aim(3.0)
MEMORY: Final = Aim(1.0)
MOST_MEMORY: Final = 150e6
"""Bytes; the floor of a size that is to stay below it."""
DAG: Final = "a.wide"
YEAR: Final = "a.year"
"""A DAG like it, with a run for each day of a year."""
KEYS: Final = (*[b"j"] * 60, *[b"h"] * 40, *[b"k"] * 20, *[b"l"] * 40)
KEYS_OF_YEAR: Final = (*[b"h"] * 365, *[b"j"] * 60, *[b"\x06"] * 10, *[b"k"] * 20, *[b"l"] * 60)
"""Control and f goes down by a screenful."""
VIEWS: Final = {"home": "nothing is running", "dags": "team0.dag_0"}
"""What the database says that stands on a view."""
WINDOW: Final = 50
"""Runs that the grid reads at a time."""
BIG: Final = "select relname from pg_class where relkind = 'r' and reltuples > 10000"
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
        _fill(conn, dags, 0 if reduced else 365)
        imports = median(_imports(flow) for _ in range(times))
        for view, text in VIEWS.items():
            paint = median(_first_paint(flow, view, text) for _ in range(times))
            results.line(
                paint * 1e3, f"ms to the first paint of {view}", imports * 1e3, FIRST_PAINT
            )
        bare = _keys_of_bare_screen(flow)
        if not reduced:
            _measure_year(results, flow, conn, _p95(bare))
        keys, size = _keys_of_grid(flow, DAG, "50 runs", KEYS)
        results.line(size, "bytes of memory", MOST_MEMORY, MEMORY)
    results.line(
        _p95(keys) * 1e3,
        "ms from key to paint",
        _p95(bare) * 1e3,
        KEY,
        median_ms=round(median(keys) * 1e3, 2),
        bare_median_ms=round(median(bare) * 1e3, 2),
        keys=len(keys),
    )


def _measure_year(results: Results, flow: Deployment, conn: Conn, bare: float) -> None:
    """Print what a year of a wide grid takes: its keys, its memory, its windows."""
    keys, size = _keys_of_grid(flow, YEAR, "50+ runs", KEYS_OF_YEAR)
    results.line(
        _p95(keys) * 1e3,
        "ms from key to paint in a year",
        bare * 1e3,
        median_ms=round(median(keys) * 1e3, 2),
        keys=len(keys),
    )
    results.line(size, "bytes of memory with a year", MOST_MEMORY, MEMORY)
    opened = Opened(load(environ=flow.environment, folder=flow.home).settings, conn)
    place = grid_window.newest(opened, YEAR, WINDOW).columns[0].run.place
    big = {name for (name,) in conn.execute(BIG)}
    for what, read in (
        ("newest", partial(grid_window.newest, opened, YEAR, WINDOW)),
        ("older", partial(grid_window.older, opened, YEAR, place, WINDOW)),
    ):
        cost = cost_of(conn, read)
        results.line(
            cost.milliseconds,
            f"ms in the database for the {what} window of a year",
            None,
            runs=WINDOW,
            whole_tables=sorted(cost.whole & big),
        )


def _fill(conn: Conn, dags: int, days: int) -> None:
    """The DAGs; the wide ones are first in their order."""
    wide = [_wide(DAG), _wide(YEAR)]
    specs = [*wide, *(rooted_spec(number) for number in range(dags))]
    hashes = store_specs(conn, specs)
    store_dags(conn, specs, hashes, cursor=None, due=lambda number: None)
    task_ids = [task.task_id for task in wide[0].tasks]
    for dag_id, runs in ((DAG, 50), (YEAR, days)):
        with conn.transaction():
            conn.execute(_RUNS, {"dag_id": dag_id, "runs": runs, "task_ids": task_ids})
    conn.execute("vacuum analyze run")
    conn.execute("vacuum analyze task_history")


def _wide(dag_id: str) -> DagSpec:
    """A DAG of 900 tasks in 45 groups."""
    names = [f"part_{number // 20:02}" for number in range(900)]
    return DagSpec(
        dag_id=dag_id,
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


def _first_paint(flow: Deployment, view: str, text: str) -> float:
    """Seconds until a view that was left the last time shows what it has read."""
    state = flow.folder("state")
    (state / "flow").mkdir(exist_ok=True)
    (state / "flow" / "tui.json").write_text(json.dumps({"view": view}))
    began = time.perf_counter()
    environment = flow.environment | {"XDG_STATE_HOME": str(state)}
    with program([*FLOW, "tui"], environment) as terminal:
        terminal.await_text(text)
        return time.perf_counter() - began


def _keys_of_grid(
    flow: Deployment, dag_id: str, shown: str, keys: Sequence[bytes]
) -> tuple[list[float], float]:
    """Seconds from each key to its paint, and the program's own memory afterwards."""
    with program([*FLOW, "tui", dag_id], flow.environment) as terminal:
        terminal.await_text(shown)
        terminal.settle()
        return _pressed(terminal, keys), cpu.proportional_size([terminal.pid])


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
