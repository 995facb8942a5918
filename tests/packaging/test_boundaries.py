"""Which modules each face and role really loads, and that the arrows between files run one way.

The contracts stand in pyproject.toml. They see imports as written, also those inside functions;
what a process loads in the end is seen only by asking it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import grimp
import pytest

from loaded import loaded, loaded_by_command

REPOSITORY = Path(__file__).parents[2]

DATABASE = {"alembic", "psycopg", "sqlalchemy"}
MIGRATIONS = {"alembic", "sqlalchemy"}
TERMINAL = {"rich", "textual", "typer"}
USER_CODE = {"flow.authoring", "flow.operators", "flow.process", "jinja2", "pendulum"}

ZYGOTE = """
from flow.process import preload, zygote
preload.load((*preload.MODULES, "flow.process.task", "flow.process.parse", "flow.process.callback"))
"""


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import flow", DATABASE | TERMINAL | {"jinja2", "msgspec", "pendulum"}),
        ("from flow import DAG, task", DATABASE | TERMINAL | {"jinja2", "pendulum"}),
        (ZYGOTE, DATABASE | TERMINAL | {"asyncio", "cryptography", "flow.store", "flow.secrets"}),
        ("import flow.roles.schedule", MIGRATIONS | TERMINAL | USER_CODE),
        ("import flow.roles.work", MIGRATIONS | TERMINAL | {"flow.authoring", "flow.operators"}),
        ("import flow.roles.parse", MIGRATIONS | TERMINAL | {"flow.authoring", "flow.operators"}),
    ],
    ids=["import", "authoring", "zygote", "schedule", "work", "parse"],
)
def test_what_is_not_loaded(code: str, absent: set[str]) -> None:
    assert loaded(code) & absent == set()


@pytest.mark.parametrize("arguments", [["--help"], ["up", "--help"], ["tasks", "mark", "--help"]])
def test_help_loads_no_database_and_no_user_code(arguments: list[str]) -> None:
    absent = DATABASE | USER_CODE | {"flow.store", "textual"}
    assert loaded_by_command(*arguments) & absent == set()


def test_what_the_zygote_loads_starts_no_thread() -> None:
    threads = "import threading\nassert threading.active_count() == 1, threading.enumerate()"
    loaded(f"{ZYGOTE}\n{threads}")


def test_contracts_are_kept() -> None:
    # In a process of its own: import-linter switches off every logger that exists already.
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as run; run()",
            "--no-cache",
        ],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_no_files_import_each_other() -> None:
    """Imports under TYPE_CHECKING do not count: they are for readers and type checkers."""
    graph = grimp.build_graph(
        "flow", "flow_cli", "flow_tui", exclude_type_checking_imports=True, cache_dir=None
    )
    assert [sorted(files) for files in _cycles(graph)] == []


def _cycles(graph: grimp.ImportGraph) -> list[set[str]]:
    """Groups of files that reach each other."""
    found: list[set[str]] = []
    for name in sorted(graph.modules):
        if any(name in group for group in found):
            continue
        above = graph.find_upstream_modules(name)
        group = {other for other in above if name in graph.find_upstream_modules(other)}
        if group:
            found.append({name, *group})
    return found
