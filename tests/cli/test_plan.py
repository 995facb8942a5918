"""`flow plan --changed`: two states of a repository, real imports, no database."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]

BEFORE = """
from datetime import datetime
from flow import DAG
from flow.operators.empty import EmptyOperator
from helper import RETRIES

for dag_id in ("kept", "gone"):
    with DAG(dag_id, schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False):
        EmptyOperator(task_id="load", retries=RETRIES) >> EmptyOperator(task_id="old")
"""


def git(folder: Path, *arguments: str) -> None:
    name = ("-c", "user.name=Flow", "-c", "user.email=flow@localhost")
    subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_change_is_told_from_both_states(flow: Run, project: Path) -> None:
    (project / "flow.toml").write_text("dags.folders = ['dags']\n")
    dags = project / "dags"
    dags.mkdir()
    (dags / "sales.py").write_text(BEFORE)
    (dags / "helper.py").write_text("RETRIES = 1\n")
    (dags / "broken.py").write_text("from flow import DAG\nDAG('stays')\n")
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    same = flow("plan", "--changed", "main")
    assert (same.code, same.out, same.err) == (0, "no DAG changes\n", "")

    after = BEFORE.replace('"gone"', '"new"').replace("@daily", "@hourly").replace("old", "other")
    (dags / "sales.py").write_text(after)
    # Of another size: Python would take its bytecode for a file that changes within a second.
    (dags / "helper.py").write_text("RETRIES = 1 + 2\n")
    (dags / "broken.py").write_text("import nothing_like_it\n")
    ended = flow("plan", "--changed", "main")
    assert ended.code == 1, ended.err
    lines = [line.strip() for line in ended.out.splitlines()]
    assert "- gone (dags/sales.py): is gone: no run is created any more" in lines
    assert "+ new (dags/sales.py): is new" in lines
    assert "1 run due as soon as it is not paused" in lines
    assert "~ load: retries 1 -> 3" in lines
    assert {"+ other", "- old"} <= set(lines)
    assert any(line.startswith("! dags/broken.py:1: ModuleNotFoundError") for line in lines)
    assert "stays (" not in ended.out

    ended = flow("plan", "dags", "--changed", "main", "-o", "json")
    document = json.loads(ended.out)
    changes = {one["dag_id"]: one["change"] for one in document["dags"]}
    assert changes == {"gone": "removed", "kept": "changed", "new": "added"}
    assert [one["file"] for one in document["errors"]] == ["dags/broken.py"]


def test_what_cannot_be_compared_is_refused(flow: Run, project: Path) -> None:
    (project / "dags").mkdir()
    outside = flow("plan", "dags", "--changed", "main")
    assert outside.code == 2
    assert "not in a Git repository" in outside.err
    assert flow("plan", "nope", "--changed", "main").code == 3
    assert flow("plan", "dags").code == 2
    assert flow("plan", "--changed", "main", "--from", "today").code == 2
