"""What a DAG file is reported to hold, or why it cannot be imported."""

from __future__ import annotations

import hashlib
import signal
from pathlib import Path
from typing import Any

import pytest

from flow.errors import ProtocolError
from flow.graph import decode
from flow.process.jobs import ParseJob
from flow.process.last_words import last_words
from flow.process.messages import Parsed
from flow.process.parse import run_parse
from support.jobs import Ended, run
from support.runtime import MemoryRuntime

TWO = """import helper
from datetime import datetime
from flow import DAG, task
print("noise")

with DAG("first", schedule="@daily", start_date=datetime(2026, 1, 1)):
    @task
    def a(): ...
    @task
    def b(): ...
    a() >> b()

def factory(name):
    return DAG(name)

factory("second")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "dags"
    root.mkdir()
    (root / "helper.py").write_text("import inner.deep\nVALUE = 1\n")
    (root / "inner").mkdir()
    (root / "inner" / "deep.py").write_text("")
    installed = root / "venv" / "lib" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "package.py").write_text("")
    return root


def parse(root: Path, text: str, memory: MemoryRuntime | None = None) -> tuple[Parsed, Ended]:
    file = root / "file.py"
    file.write_text(text)
    job = ParseJob(file=str(file), root=str(root))
    ended = run(run_parse, job, root.parent / "log", memory=memory)
    (parsed,) = ended.reports
    return parsed, ended


def test_every_dag_with_its_line(root: Path) -> None:
    parsed, ended = parse(root, TWO)
    specs = [decode(spec) for spec in parsed.specs]
    assert [spec.dag_id for spec in specs] == ["first", "second"]
    assert [task.task_id for task in specs[0].tasks] == ["a", "b"]
    assert parsed.lines == (6, 16)
    assert (parsed.error, parsed.traceback, parsed.warnings) == (None, None, ())
    assert 0 < parsed.seconds < 60
    assert ended.log == "noise\n"
    assert ended.exit_code == 0


def test_the_same_file_is_the_same_bytes(root: Path) -> None:
    first, second = (parse(root, TWO)[0].specs for _ in range(2))
    assert [hashlib.sha256(spec).hexdigest() for spec in first] == [
        hashlib.sha256(spec).hexdigest() for spec in second
    ]


def test_local_modules_are_listed(root: Path) -> None:
    text = (
        f"import sys\nsys.path.append({str(root / 'venv/lib/site-packages')!r})\nimport package\n"
    )
    parsed, _ = parse(root, text + TWO)
    assert parsed.modules == {
        "helper": str(root / "helper.py"),
        "inner.deep": str(root / "inner" / "deep.py"),
    }


def test_a_file_without_dags_is_no_error(root: Path) -> None:
    parsed, _ = parse(root, "x = 1\n")
    assert (parsed.specs, parsed.error) == ((), None)


@pytest.mark.parametrize(
    ("text", "error", "line"),
    [
        ("x = 1\n1 / 0\n", "ZeroDivisionError: division by zero", 2),
        ("import nothing_like_it\n", "ModuleNotFoundError: No module named", 1),
        ("x = 1\ndef f(:\n", "SyntaxError: ", 2),
        ("\n\nimport sys; sys.exit(1)", "SystemExit: 1", 3),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", 1),
        ("def f():\n    raise ValueError('two\\nlines')\nf()\n", "ValueError: two lines", 2),
        ("from flow import DAG\nDAG('d', schedul='@daily')", "UnsupportedArgument: ", 2),
        (
            "from flow import DAG\nDAG('a')\nDAG('b')\nDAG('a')\n",
            "DuplicateId: ",
            4,
        ),
        ("x = '\\ud800'.encode()", "UnicodeEncodeError: ", 1),
        ("# -*- coding: nonsense -*-", "SyntaxError: ", None),
    ],
)
def test_whatever_the_file_raises_is_its_error(
    root: Path, text: str, error: str, line: int | None
) -> None:
    parsed, ended = parse(root, text)
    assert (parsed.error or "").startswith(error), parsed.error
    assert "\n" not in (parsed.error or "")
    assert parsed.error_line == line or line is None
    assert (parsed.specs, parsed.lines) == ((), ())
    assert ended.exit_code == 0
    trace = parsed.traceback or ""
    assert "engine/flow" not in trace
    assert "<frozen" not in trace


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("from airflow import DAG", "Flow's names are imported like this: from flow import DAG"),
        ("from flow.sdk import task", "write: from flow import DAG"),
        ("from airflow.operators.bash import BashOperator", "write: flow.operators.bash"),
        ("from airflow.sdk import dag", "write: from flow import"),
        ("import airflow.nothing_like_it", "Flow's names are imported like this: from flow"),
        (
            "from flow.sensors.filesystem import FileSensor",
            "there are no sensors yet: write a task that raises",
        ),
        ("from flow.models.baseoperator import chain", "write: from flow import BaseOperator"),
        ("from flow import Asset", "Flow has none: there are no assets yet"),
        ("from flow import setup", "Flow has none: write an ordinary task"),
        ("from flow import sensor", "Flow has none: there are no sensors yet: write a task"),
        ("from flow import BashOperator", "write: from flow.operators.bash import BashOperator"),
        ("from flow.operators.bash import DAG", "write: from flow import DAG"),
    ],
)
def test_a_name_that_is_elsewhere_is_told_with_its_place(
    root: Path, text: str, instead: str
) -> None:
    parsed, _ = parse(root, text)
    assert f"; {instead}" in (parsed.error or "")


def test_a_file_that_cannot_be_opened_is_told_without_flows_own_lines(root: Path) -> None:
    job = ParseJob(file=str(root / "inner"), root=str(root))
    (parsed,) = run(run_parse, job, root.parent / "log").reports
    assert parsed.traceback == f"IsADirectoryError: [Errno 21] Is a directory: '{root / 'inner'}'"


def test_a_line_is_not_told_with_one_whose_number_begins_like_it(root: Path) -> None:
    helper = root / "helper.py"
    helper.write_text(f"raise ValueError({f'{helper}:12 is odd'!r})\n")
    parsed, _ = parse(root, TWO)
    assert parsed.error == f"ValueError: {helper}:12 is odd ({helper}:1)"


def test_an_error_in_a_helper_names_the_users_lines(root: Path) -> None:
    (root / "helper.py").write_text("\n1 / 0\n")
    parsed, _ = parse(root, TWO)
    assert parsed.error_line == 1
    frames = [line for line in (parsed.traceback or "").splitlines() if "File" in line]
    assert [frame.split(", in ")[0] for frame in frames] == [
        f'  File "{root / "file.py"}", line 1',
        f'  File "{root / "helper.py"}", line 2',
    ]
    # A change of the helper may mend the file, so it must be known.
    assert parsed.error == f"ZeroDivisionError: division by zero ({root / 'helper.py'}:2)"


def test_a_missing_file_is_an_error(root: Path) -> None:
    job = ParseJob(file=str(root / "gone.py"), root=str(root))
    (parsed,) = run(run_parse, job, root.parent / "log").reports
    assert "does not exist" in parsed.error


def test_a_variable_may_be_read_at_the_top(root: Path) -> None:
    text = "from flow import DAG, Variable\nDAG(Variable.get('name'))\n"
    parsed, ended = parse(root, text, MemoryRuntime(variables={"name": "from_variable"}))
    assert [decode(spec).dag_id for spec in parsed.specs] == ["from_variable"]
    assert [type(request).__name__ for request in ended.requests] == ["GetVariable"]
    missing, _ = parse(root, text)
    assert missing.error == (
        "NotFound: variable 'name' does not exist; make it: flow vars set name VALUE"
    )
    assert missing.error_line == 2


def test_warnings_of_the_users_files_are_reported_once(root: Path) -> None:
    text = "import warnings\nfor _ in range(3):\n    warnings.warn('old', DeprecationWarning)\n"
    parsed, _ = parse(root, text)
    assert parsed.warnings == (f"{root / 'file.py'}:3: DeprecationWarning: old",)


def test_files_do_not_hide_pythons_own_modules(root: Path) -> None:
    (root / "colorsys.py").write_text("raise SystemError('not this one')\n")
    parsed, _ = parse(root, "import colorsys\ncolorsys.rgb_to_hls\n")
    assert parsed.error is None


def test_a_file_may_replace_the_finders(root: Path) -> None:
    parsed, ended = parse(root, "import sys\nsys.meta_path = sys.meta_path[1:]\n" + TWO)
    assert (len(parsed.specs), ended.exit_code) == (2, 0)
    parsed, ended = parse(root, "import sys\ndel sys.meta_path[0]\n" + TWO)
    assert (len(parsed.specs), ended.exit_code) == (2, 0)


def test_dataclasses_and_pickle_find_the_module(root: Path) -> None:
    text = """from __future__ import annotations
import pickle
from dataclasses import dataclass
@dataclass
class Row:
    x: int
assert pickle.loads(pickle.dumps(Row(1))) == Row(1)
"""
    parsed, _ = parse(root, text)
    assert parsed.error is None


def test_the_line_is_not_stdout(root: Path) -> None:
    text = "import os, sys\nprint('x' * 1000)\nos.write(1, b'raw')\nsys.stderr.write('err')\n"
    parsed, ended = parse(root, text)
    assert parsed.error is None
    assert "raw" in ended.log
    assert "err" in ended.log
    assert sys_stdin_is_empty(root)


def sys_stdin_is_empty(root: Path) -> Any:
    parsed, _ = parse(root, "import sys\nassert sys.stdin.read() == ''\n")
    return parsed.error is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("from flow import DAG\nDAG('d')\n", "the DAGs of this file are too large: 65 MB"),
        ("import helper\n1 / 0\n", "what its import reports is too large: 65 MB"),
    ],
)
def test_what_no_message_can_hold_is_named(root: Path, text: str, says: str) -> None:
    def serve(job: ParseJob, line: Any, *, received: float) -> None:
        send = line.send

        def refuse(message: Parsed) -> None:
            line.send = send
            raise ProtocolError("65 MB")

        line.send = refuse
        run_parse(job, line, received=received)

    file = root / "file.py"
    file.write_text(text)
    (parsed,) = run(serve, ParseJob(file=str(file), root=str(root)), root.parent / "log").reports
    assert parsed == Parsed(error=says)


def test_an_import_that_nobody_stops_ends_by_its_own_limit_and_says_where(root: Path) -> None:
    """Its supervisor may stand still."""
    file = root / "file.py"
    file.write_text("x = 1\nwhile True:\n    x += 1\n")
    job = ParseJob(file=str(file), root=str(root), timeout=1.0)
    ended = run(run_parse, job, root.parent / "log")
    assert (ended.reports, ended.signal) == ([], signal.SIGXCPU)
    said = last_words(ended.log, str(file))
    assert said.line in (2, 3)
    assert said.stack is not None
    assert "in parse" not in said.stack, "Flow's own frames are left out"


def test_output_that_only_looks_like_last_words_is_output() -> None:
    assert last_words("Stack (most recent call last):\nno\n", "/f.py").stack is None
    fake = 'before\nStack (most recent call first):\n  File "/f.py", line 7 in <module>\n'
    assert last_words(fake, "/f.py")[::2] == ("before", 7)
