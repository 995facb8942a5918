"""Running a bench's own DAG files: written, parsed, let go, waited for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness import Conn, Deployment, one, wait_for

_MANY = """\
import time
from datetime import UTC, datetime, timedelta

from flow import DAG, task

with DAG(
    "{dag_id}",
    schedule="@daily",
    start_date=datetime(2020, 1, 1, tzinfo=UTC),
    end_date=datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days={runs} - 1),
    catchup=True,
    max_active_runs={at_once},
    max_active_tasks={tasks},
):

    @task
    def one():
        {body}

    for number in range({tasks}):
        one.override(task_id=f"task_{{number:04}}")()
"""
_LET_GO = "update dag set paused = false where dag_id = %(dag_id)s"
_UNFINISHED = """
select not exists(select from run where dag_id = %(dag_id)s)
  or exists(select from run where dag_id = %(dag_id)s and state in ('queued', 'running'))
  or exists(select from dag where dag_id = %(dag_id)s and next_run_at <= clock_timestamp())
"""
_STATES = "select distinct state from run where dag_id = %(dag_id)s"
_SPAN = """
select count(*), extract(epoch from max(ended_at) - min(queued_at))::float8
from task where dag_id = %(dag_id)s
"""


def many(dag_id: str, *, runs: int, tasks: int, body: str, at_once: int | None = None) -> str:
    """A DAG file with `runs` runs of independent tasks, all due; `at_once` of them run together."""
    return _MANY.format(dag_id=dag_id, runs=runs, tasks=tasks, body=body, at_once=at_once or runs)


def dag_files(flow: Deployment, texts: Mapping[str, str]) -> dict[str, Path]:
    """Write and parse a DAG file for each name; the DAGs are paused."""
    folder = flow.folder("dags")
    files = {name: folder / f"{name}.py" for name in texts}
    for name, file in files.items():
        file.write_text(texts[name])
    flow.flow("parse", "--once", "--dags", str(folder))
    return files


def let_go(conn: Conn, dag_id: str) -> None:
    """Let a DAG make its runs."""
    assert conn.execute(_LET_GO, {"dag_id": dag_id}).rowcount == 1, f"{dag_id} was not parsed"
    conn.execute("notify flow_wake")


def run_once(conn: Conn, dag_id: str) -> None:
    """Let a DAG go and wait until all its runs have ended, in success."""
    let_go(conn, dag_id)
    wait_for(lambda: not one(conn, _UNFINISHED, {"dag_id": dag_id}), f"the runs of {dag_id}")
    states = conn.execute(_STATES, {"dag_id": dag_id}).fetchall()
    assert states == [("success",)], f"runs of {dag_id} ended {states}"


def span(conn: Conn, dag_id: str) -> tuple[int, float]:
    """How many tasks of a DAG ended, and the seconds from the first one queued to the last end."""
    tasks, seconds = conn.execute(_SPAN, {"dag_id": dag_id}).fetchone() or (0, 0.0)
    return int(tasks), float(seconds)


def rate(conn: Conn, dag_id: str, expected: int) -> tuple[float, float]:
    """Tasks a second of a DAG whose runs have all ended, and the seconds that they took."""
    tasks, seconds = span(conn, dag_id)
    assert tasks == expected, f"{tasks} tasks ended, {expected} should have"
    return tasks / seconds, seconds
