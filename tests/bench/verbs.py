"""verbs: what people look at, with 20,000 DAGs and 5 million tasks, against a database of one DAG.

Usage: verbs.py [--reduced]

For every verb that lists, shows or explains: the time of the whole command, which counts, and of
what is done inside it (connecting, reading, rendering) when everything is loaded; each the fastest
of some rounds that alternate between the two databases. Lists print a page of 100 rows. Beside it
all DAGs at once as JSON lines, in rows a second and peak memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import past_runs
from harness import FLOW, Aim, Deployment, Results, deployment, main
from stored import rooted_spec, store_dags, store_specs

AIM: Final = Aim(2.0)
DAGS: Final = 20_000
RUNNING: Final = 4_000
FILES: Final = 5_000
DAG: Final = "team0.dag_0"
ENDED: Final = (DAG, "past_0")
FAILED: Final = (DAG, "past_1")
NOW: Final = (DAG, "now_0")
VERBS: Final = (
    ("dags", "list"),
    ("dags", "list", "--owner", "team"),
    ("dags", "list", "--failed"),
    ("dags", "show", DAG),
    ("dags", "next", DAG),
    ("dags", "versions", DAG),
    ("dags", "errors"),
    ("dags", "warnings"),
    ("runs", "list"),
    ("runs", "list", DAG),
    ("runs", "list", "--state", "failed"),
    ("runs", "list", "--state", "running"),
    ("runs", "list", "--from", "-2d", "--state", "success"),
    ("runs", "show", *ENDED),
    ("tasks", "list", *ENDED),
    ("tasks", "tries", *ENDED, "root_0"),
    ("xcom", "list", *ENDED),
    ("grid", DAG),
    ("graph", *NOW),
    ("compare", *ENDED, "past_1"),
    ("pools", "list"),
    ("pools", "show", "default_pool"),
    ("status",),
    ("events",),
    ("events", "--since", "-2d"),
    ("audit",),
    ("backfills", "list"),
    ("backfills", "show", "1"),
    ("vars", "list"),
    ("conns", "list"),
    ("plan",),
    ("why", DAG),
    ("why", *NOW),
    ("why", *NOW, "task_12"),
    ("why", *FAILED),
)
EVERYTHING: Final = ("dags", "list", "--all", "-o", "jsonl")

_FILES: Final = """
with moved as (
  update dag set file = '/dags/file_' || split_part(dag_id, '.dag_', 2)::int %% %(files)s || '.py'
  returning file)
insert into dag_file (path, content_hash) select distinct file, 'c0de' from moved
"""
_ENTRIES: Final = """
insert into audit (at, os_user, host, verb, target)
select now() - number * interval '1 minute', 'flow', 'host', 'dags.pause',
  'team' || number %% 40 || '.dag_' || number %% 20000
from generate_series(1, %(entries)s::int) number
"""
_PROCESSES: Final = """
insert into process (role, host, pid, version, lost_after, executor, queues, slots)
values ('schedule', 'host', 1, '0', 300, null, '{}', 0),
  ('parse', 'host', 2, '0', 300, null, '{}', 0),
  ('work', 'host', 3, '0', 300, 'local', '{default}', 8)
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of what, and how often each command is run."""

    tasks: int
    rounds: int


FULL: Final = Sizes(5_000_000, 5)
REDUCED: Final = Sizes(2_000_000, 1)


def measure(results: Results, reduced: bool) -> None:
    """Print two lines for each verb; of the whole commands, the worst one last."""
    sizes = REDUCED if reduced else FULL
    runs = sizes.tasks // past_runs.TASKS
    with _filled(1, runs // DAGS, 1) as small, _filled(DAGS, runs, RUNNING) as large:
        _print_everything(results, large)
        pairs = list(zip(_inside(large, sizes), _inside(small, sizes), strict=True))
        for verb, (value, floor) in zip(VERBS, pairs, strict=True):
            results.line(value * 1e3, "ms", floor * 1e3, of=" ".join(verb), where="inside")
        whole = [(verb, *_whole(large, small, verb, sizes.rounds)) for verb in VERBS]
    for verb, value, floor in sorted(whole, key=lambda one: one[1] / one[2]):
        results.line(value * 1e3, "ms", floor * 1e3, AIM, of=" ".join(verb), tasks=sizes.tasks)


def _print_everything(results: Results, flow: Deployment) -> None:
    """All DAGs as JSON lines, for information."""
    measured = str(Path(__file__).with_name("peak.py"))
    with tempfile.TemporaryFile() as out:
        done = subprocess.run(
            [sys.executable, measured, *FLOW, *EVERYTHING],
            env=flow.environment,
            stdout=out,
            stderr=subprocess.PIPE,
            check=True,
        )
        out.seek(0)
        lines = sum(1 for _ in out)
    assert lines == DAGS, f"{lines} lines were printed"
    spent = json.loads(done.stderr)
    results.line(lines / spent["seconds"], "rows/s", None, of=" ".join(EVERYTHING))
    results.line(spent["peak"] / 1e6, "MB", None, of=" ".join(EVERYTHING), figure="peak memory")


def _inside(flow: Deployment, sizes: Sizes) -> list[float]:
    """Seconds within each verb, the fastest round of each, all in one process."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("repeated.py")), str(sizes.rounds + 1)],
        env=flow.environment,
        input=json.dumps(VERBS),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    wrong = [verb for verb, code in zip(VERBS, found["codes"], strict=True) if code not in (0, 1)]
    assert not wrong, f"{wrong} failed"
    return [min(rounds) for rounds in found["seconds"]]


def _whole(
    large: Deployment, small: Deployment, verb: Sequence[str], rounds: int
) -> tuple[float, float]:
    """Seconds of the whole command on both, the fastest round of each."""
    spent = [(_run(large, verb), _run(small, verb)) for _ in range(rounds)]
    values, floors = zip(*spent, strict=True)
    return min(values), min(floors)


def _run(flow: Deployment, words: Sequence[str]) -> float:
    """Run one command, as a shell would. Returns the seconds."""
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        done = subprocess.run(
            [*FLOW, *words], env=flow.environment, stdout=out, stderr=subprocess.DEVNULL
        )
        seconds = time.perf_counter() - began
    assert done.returncode in (0, 1), f"flow {' '.join(words)} failed"
    return seconds


@contextmanager
def _filled(dags: int, ended: int, running: int) -> Iterator[Deployment]:
    """A deployment with so many DAGs, runs that are over, and runs of today."""
    with deployment() as flow, flow.connect() as conn:
        specs = [rooted_spec(number) for number in range(dags)]
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        store_dags(
            conn,
            specs,
            store_specs(conn, specs),
            cursor=midnight,
            due=lambda number: midnight + timedelta(days=1),
        )
        conn.execute(_PROCESSES)
        conn.execute(_FILES, {"files": FILES})
        conn.execute(_ENTRIES, {"entries": ended})
        past_runs.write_ended(conn, dags=dags, runs=ended)
        past_runs.write_running(conn, running)
        past_runs.write_backfill(conn, DAG)
        conn.execute("vacuum analyze dag, dag_file, audit, process")
        yield flow


if __name__ == "__main__":
    main("verbs", measure)
