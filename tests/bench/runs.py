"""Running a bench's own DAG files: written, parsed, let go, waited for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness import Conn, Deployment, one, wait_for

_LET_GO = "update dag set paused = false where dag_id = %(dag_id)s"
_UNFINISHED = """
select not exists(select from run where dag_id = %(dag_id)s)
  or exists(select from run where dag_id = %(dag_id)s and state in ('queued', 'running'))
  or exists(select from dag where dag_id = %(dag_id)s and next_run_at <= clock_timestamp())
"""
_STATES = "select distinct state from run where dag_id = %(dag_id)s"


def dag_files(flow: Deployment, texts: Mapping[str, str]) -> dict[str, Path]:
    """Write and parse a DAG file for each name; the DAGs are paused."""
    folder = flow.folder("dags")
    files = {name: folder / f"{name}.py" for name in texts}
    for name, file in files.items():
        file.write_text(texts[name])
    flow.flow("parse", "--once", "--dags", str(folder))
    return files


def run_once(conn: Conn, dag_id: str) -> None:
    """Let a DAG go and wait until all its runs have ended, in success."""
    assert conn.execute(_LET_GO, {"dag_id": dag_id}).rowcount == 1, f"{dag_id} was not parsed"
    conn.execute("notify flow_wake")
    wait_for(lambda: not one(conn, _UNFINISHED, {"dag_id": dag_id}), f"the runs of {dag_id}")
    states = conn.execute(_STATES, {"dag_id": dag_id}).fetchall()
    assert states == [("success",)], f"runs of {dag_id} ended {states}"
