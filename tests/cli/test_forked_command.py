"""What most tests call `flow` is as good as an interpreter that starts and imports."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support import forked_command
from waiting import limit

COMMANDS = (
    ("--version",),
    ("config", "show", "-o", "json"),
    ("config", "get", "nonsense"),
    ("dags", "list", "-o", "json"),
    ("test", "ends.py"),
)
DAG_FILE = """
import os, sys
print("élan", os.getcwd(), sys.path[0], os.environ["HOME"])
sys.exit(3)
"""


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda one: " ".join(one))
def test_it_does_the_same(
    environment: dict[str, str], project: Path, arguments: tuple[str, ...]
) -> None:
    (project / "ends.py").write_text(DAG_FILE, encoding="utf-8")
    environment["FLOW_DATABASE_URL"] = "postgresql://flow@127.0.0.1:1/flow"
    where = {"cwd": project, "env": environment, "seconds": limit(60)}
    anew = forked_command.start(arguments, **where)
    for _ in range(forked_command.WORTH):
        forked = forked_command.run(arguments, **where)
    assert (anew.args[0], forked.args[0]) == (sys.executable, "flow")
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        anew.returncode,
        anew.stdout,
        anew.stderr,
    )
