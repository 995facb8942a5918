"""What an observed import is seen to do beside defining DAGs, and at which line."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.process.jobs import ParseJob
from flow.process.messages import Deed, Parsed
from flow.process.parse import run_parse
from support.jobs import run
from support.runtime import MemoryRuntime


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "dags"
    root.mkdir()
    return root


def observed(root: Path, text: str, memory: MemoryRuntime | None = None) -> Parsed:
    file = root / "file.py"
    file.write_text(text)
    job = ParseJob(file=str(file), root=str(root), observe=True)
    (parsed,) = run(run_parse, job, root.parent / "log", memory=memory).reports
    assert isinstance(parsed, Parsed)
    return parsed


def deeds(root: Path, text: str) -> list[tuple[str, str, int]]:
    return [(one.kind, one.target, one.line) for one in observed(root, text).deeds]


@pytest.mark.parametrize(
    ("statement", "deed"),
    [
        ("import subprocess; subprocess.run(['true', '1'])", ("process", "true", 2)),
        ("import os; os.system('true 2')", ("process", "true", 2)),
        ("import subprocess; subprocess.run('true $PW', shell=True)", ("process", "true", 2)),
        ("import os; os.fork() or os._exit(0)", ("process", "a fork of this process", 2)),
        ("import os; os.environ['HOME']; open('/etc/passwd').close()", ("read", "/etc/passwd", 2)),
        ("import os; os.listdir('/etc')", ("read", "/etc/", 2)),
        ("import sqlite3; sqlite3.connect('/dev/null/x')", ("write", "/dev/null/x", 2)),
    ],
)
def test_a_deed_has_its_line(root: Path, statement: str, deed: tuple[str, str, int]) -> None:
    assert deeds(root, f"\n{statement}\n") == [deed]


def test_a_connection_that_is_refused_is_one_all_the_same(root: Path) -> None:
    text = (
        "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 1))\nexcept OSError: ...\n"
    )
    assert deeds(root, text) == [("network", "127.0.0.1:1", 3)]


def test_what_is_written_counts_wherever_it_is(root: Path) -> None:
    assert deeds(root, "open(__file__ + '.out', 'w').close()\n") == [
        ("write", f"{root}/file.py.out", 1)
    ]


def test_own_files_libraries_and_time_zones_may_be_read(root: Path) -> None:
    (root / "data.json").write_text("{}")
    text = """
import csv, json, pathlib, sqlite3, zoneinfo
json.loads(pathlib.Path(__file__).with_name("data.json").read_text())
pathlib.Path(csv.__file__).read_text()
zoneinfo.ZoneInfo.no_cache("Europe/Zurich")
open("/dev/null", "w").close()
open("/proc/self/stat").close()
sqlite3.connect(":memory:").close()
"""
    assert deeds(root, text) == []


def test_variables_and_connections_are_named(root: Path) -> None:
    text = "from flow import Variable\nVariable.get('one', None)\nVariable.get('one', None)\n"
    assert deeds(root, text) == [("variable", "one", 2), ("variable", "one", 3)]
    text = "from flow import Connection\ntry:\n    Connection.get('db')\nexcept LookupError: ...\n"
    assert deeds(root, text)[0] == ("connection", "db", 3)


def test_a_module_of_the_users_is_the_place(root: Path) -> None:
    (root / "helper.py").write_text("import os\nos.system('true')\n")
    assert observed(root, "import helper\n").deeds == (
        Deed(kind="process", target="true", file=f"{root}/helper.py", line=2),
    )


def test_an_installed_package_is_named_for_what_it_does_as_it_is_imported(root: Path) -> None:
    installed = root.parent / "lib" / "site-packages"
    (installed / "package").mkdir(parents=True)
    (installed / "package" / "__init__.py").write_text(
        "import os\nopen('/etc/passwd').close()\nos.system('true')\n"
    )
    text = f"import sys\nsys.path.append({str(installed)!r})\nimport package\n"
    assert observed(root, text).deeds == (
        Deed(kind="process", target="true", file=f"{root}/file.py", line=3, through="package"),
    )


def test_an_import_that_fails_tells_what_it_did_before(root: Path) -> None:
    parsed = observed(root, "import os\nos.system('true')\nos.systm('true')\n")
    assert [one.kind for one in parsed.deeds] == ["process"]
    assert parsed.nearest == "system"


@pytest.mark.parametrize(
    ("statement", "nearest"),
    [
        ("import jsn", "json"),
        ("import flow.operators.bsh", "flow.operators.bash"),
        ("from flow.operators.bash import BashOperatr", "BashOperator"),
        ("colour = 1\nprint(color)", "colour"),
        ("def f():\n    retries = 1\n    return retires\nf()", "retries"),
        ("import nothing_that_is_like_it", None),
        ("raise ImportError('of its own')", None),
    ],
)
def test_the_nearest_name(root: Path, statement: str, nearest: str | None) -> None:
    assert observed(root, statement).nearest == nearest


def test_nothing_is_observed_unless_it_is_wanted(root: Path) -> None:
    file = root / "file.py"
    file.write_text("import os, sys\nos.system('true')\nimport jsn\n")
    (parsed,) = run(
        run_parse, ParseJob(file=str(file), root=str(root)), root.parent / "log"
    ).reports
    assert isinstance(parsed, Parsed)
    assert (parsed.deeds, parsed.nearest) == ((), None)


def test_errors_of_flows_own_have_their_code(root: Path) -> None:
    text = "from flow import DAG\nDAG('a')\nDAG('a')\n"
    assert observed(root, text).error_code == "duplicate_id"
    assert observed(root, "1 / 0").error_code == ""
