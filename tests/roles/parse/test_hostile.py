"""Files of bad will: one clear error each, and the file beside them is parsed as ever."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from dag_folder import Folder
from waiting import limit

FORGE = """
import gc, os
from flow.process.line_runtime import LineRuntime
from flow.process.messages import *
from flow.process.messages import ImportTime, Parsed
line = next(one for one in gc.get_objects() if isinstance(one, LineRuntime))._line
{body}
os._exit(0)
"""
"""Talks to the DAG processor itself."""

FORGED = {
    "deep": "line.send(Parsed(specs=(b'[' * 100_000,), lines=(1,)))",
    "deep_dict": """line.send(Parsed(specs=(b'{"a":' * 100_000,), lines=(1,)))""",
    "other_lines": "line.send(Parsed(specs=(b'{}',), lines=(1, 2)))",
    "nan": "line.send(Parsed(seconds=float('nan')))",
    "for_ever": "line.send(Parsed(seconds=float('inf')))",
    "before_it_began": "line.send(Parsed(seconds=-1e300))",
    "nan_of_a_module": """
line.send(Parsed(imports=(ImportTime(name='a\\0b', seconds=float('nan'), importer='\\0'),)))""",
    "device": "line.send(Parsed(modules={'x': '/dev/zero'}))",
    "way_out": "line.send(Parsed(modules={'x': os.path.dirname(__file__) + '/../../dev/zero'}))",
    "nul_in_a_path": "line.send(Parsed(modules={'x\\0': os.path.dirname(__file__) + '/a\\0b'}))",
    "long_path": "line.send(Parsed(modules={'x': os.path.dirname(__file__) + '/a' * 50_000}))",
    "many_modules": """
line.send(Parsed(error='x', lacked=tuple(f'x{number}' for number in range(200_000))))""",
    "odd_names": """
line.send(Parsed(error='x', lacked=('../../dev/zero', '..', '', 'a\\0b', 'a..b')))""",
    "nul": "line.send(Parsed(error='a\\0b', error_line=2**63, traceback='\\0'))",
    "nothing_said": "line.send(Parsed(error=' ', error_line=0))",
    "warnings": "line.send(Parsed(warnings=('w\\0',) * 100_000))",
    "again_and_again": "for _ in range(1_000): line.send(Parsed())",
    "noise": "os.write(line.fileno(), b'\\xff' * 1_000)",
    "other_things": "os.write(line.fileno(), b'\\0\\0\\0\\x05' + b'\\x91' * 5)",
    "a_variable": "line.send(GetVariable(key='a\\0b'))",
    "a_connection": "line.send(GetConnection(conn_id='a\\0b'))",
    "a_dag": "line.send(GetSchedulePosition(dag_id='a\\0b'))",
}

TEXTS = {
    "nul": (b"x = 1\n\0\n", "null bytes"),
    "latin": ("x = 'é'\n".encode("latin-1"), "'utf-8' codec can't decode byte 0xe9"),
    "coding": ("# coding: latin-1\nx = 'é'\n".encode("latin-1"), None),
    "no_coding": (b"# coding: nonsense\n", "unknown encoding: nonsense"),
    "bom": (b"\xef\xbb\xbfx = 1\n", None),
    "utf16": ("x = 1\n".encode("utf-16"), "null bytes"),
    "large": (b"x = [\n" + b"1, 2, 'abc',\n" * 800_000 + b"]\n", None),
    "raises": (rb"raise ValueError('a\0b\ud800')", r"^ValueError: a\\x00b\\ud800$"),
    "warns": (rb"import warnings; warnings.warn('a\0b\ud800')", None),
    "prints": (rb"import os; os.write(1, b'\xff\0'); 1 / 0", "ZeroDivisionError"),
    "mute": (
        b"class Mute(Exception):\n    def __str__(self):\n        return 5\nraise Mute\n",
        "^Mute: .its text cannot be told: TypeError",
    ),
    "long_winded": (b"raise ValueError('x' * 70_000_000)", "^ValueError: x{400,}…$"),
    "lacks_half": (rb"__import__('\ud800')", "ModuleNotFoundError|is no text"),
    "lacks_nul": (rb"import importlib; importlib.import_module('a\0b')", "ModuleNotFoundError"),
    "odd_id": (rb"from flow import DAG; DAG('a b/../\0')", "dag_id .* is not legal"),
    "long_id": (b"from flow import DAG; DAG('x' * 10_000)", "has 10000 characters"),
    "odd_variable": (
        rb"from flow import Variable; Variable.get('a\0b', 'x')",
        r"variable 'a\\x00b' cannot be read: the database cannot hold that name",
    ),
    "deep": (
        b"import sys; from flow import DAG\nsys.setrecursionlimit(10**6)\ndeep = []\n"
        b"for _ in range(3_000): deep = [deep]\nDAG('deep', params={'x': deep})",
        "recursion depth",
    ),
    "closes": (b"import os; os.closerange(0, 1_000)", "exit code 1"),
    "two\nlines": (b"1 / 0", "ZeroDivisionError"),
    "red\x1b[31m": (b"1 / 0", "ZeroDivisionError"),
    "json": (b"x = 1", None),
    "flow": (b"import json, flow; json.dumps; flow.DAG", None),
}
"""The source, and what the error says; None: there is none."""

FREEZE = "import os, signal, time\nos.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(9999)\n"


@pytest.fixture(autouse=True)
def innocent(folder: Folder) -> Iterator[None]:
    """A file beside the others, which has its DAG whatever they do."""
    folder.dag("innocent.py", "innocent")
    yield
    assert folder.dags()["innocent"] == "innocent.py"


def test_what_a_child_says_is_believed_only_where_it_can_be(folder: Folder) -> None:
    for name, body in FORGED.items():
        folder.write(f"{name}.py", FORGE.format(body=body))
    folder.parse()
    folder.parse()
    assert set(folder.dags()) == {"innocent"}
    known = "select count(*) from dag_file"
    assert folder.value(known) == len(FORGED) + 1
    assert folder.value("select max(seconds) from dag_file") < limit(60)
    outside = "select count(*) from dag_file where modules::text ~ 'zero|u0000'"
    assert folder.value(outside) == 0


def test_whatever_a_file_holds_its_error_is_one_line_that_says_so(folder: Folder) -> None:
    for name, (text, _) in TEXTS.items():
        (folder.path / f"{name}.py").write_bytes(text)
    folder.parse()
    errors = folder.errors()
    for name, (_, says) in TEXTS.items():
        said = errors.pop(f"{name}.py", None)
        assert (said is None) == (says is None), (name, said)
        assert says is None or said is None or re.search(says, said), (name, said)
        assert "\n" not in (said or "")
    assert errors == {}


def test_an_import_that_stops_its_parent_is_found_out(folder: Folder) -> None:
    folder.write("freezes.py", FREEZE)
    folder.parse()
    assert set(folder.errors()) == {"freezes.py"}
    assert "or stopped it" in folder.errors()["freezes.py"]


def test_a_file_may_define_thousands_of_dags(folder: Folder) -> None:
    many = "for number in range(5_000):\n    DAG(f'dag_{number}', tags=[TAG])\n"
    folder.write("many.py", f"from flow import DAG\nTAG = 'one'\n{many}")
    folder.parse()
    folder.write("many.py", f"from flow import DAG\n\nTAG = 'other'\n{many}")
    folder.parse()
    assert folder.errors() == {}
    changed = "select count(*) from dag where version = 2 and line = 5 and tags = '{other}'"
    assert folder.value(changed) == 5_000
