"""Generated files are fresh, and manual pages are what the manual reader accepts."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flow import DAG, TaskGroup, task, task_group
from flow.authoring.xcom_arg import XComArg
from flow.errors import UnsupportedArgument
from flow.operators.empty import EmptyOperator
from flow_cli import airflow_sheet, generate, key_sheet, roff
from flow_tui.actions import ACTIONS
from flow_tui.movements import MOVEMENTS

REPOSITORY = Path(__file__).parents[2]
MANUAL = sorted(
    path for path in (REPOSITORY / "man").iterdir() if path.is_file() and path.suffix != ".md"
)


def test_committed_files_are_fresh():
    assert generate.stale(generate.generated(REPOSITORY)) == []


def test_every_key_of_the_terminal_ui_stands_on_its_page():
    lines = key_sheet.with_keys(key_sheet.MARK).splitlines()
    for one in (*ACTIONS, *MOVEMENTS):
        assert any(f"| {one.id} | {one.help}" in line for line in lines), one.id


def test_every_method_that_is_there_to_be_refused_stands_on_the_page_of_airflow():
    operator = EmptyOperator(task_id="t")
    refused = {}
    for noun, one in (
        ("function", task(print)),
        ("group", task_group(print)),
        ("group", TaskGroup("g", dag=DAG("d"))),
        ("operator", operator),
        ("result", XComArg(operator)),
    ):
        for name in dir(one):
            method = inspect.getattr_static(one, name)
            code = getattr(getattr(method, "__func__", method), "__code__", None)
            if name.startswith("_") or code is None or "not_yet" not in code.co_names:
                continue
            with pytest.raises(UnsupportedArgument, match="is not supported yet") as caught:
                getattr(one, name)(*[None] * (code.co_argcount - 1))
            owner = noun.title() if isinstance(method, classmethod) else noun
            refused[f"{owner}.{name}"] = caught.value.hint
    assert refused == airflow_sheet.REFUSED_METHODS


def test_check_names_what_is_stale(tmp_path):
    command = [sys.executable, "-m", "flow_cli.generate"]
    first = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"wrote {tmp_path}/man/flow.1\n" in first.stderr
    (tmp_path / "man" / "flow.1").write_text("old")
    check = subprocess.run(
        [*command, "--check"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert check.returncode == 1
    assert check.stderr == f"{tmp_path}/man/flow.1 is stale; run: just generate\n"


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.name)
@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_manual_page_has_no_warnings(page):
    reading = subprocess.run(
        ["man", "--warnings", "-l", str(page)],
        env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert reading.stderr == ""
    assert "NAME" in reading.stdout


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.name)
def test_a_manual_page_says_once_what_it_is_about(page):
    """As `whatis` and `apropos` read it."""
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines.count('.SH "NAME"') == 1
    about = lines[lines.index('.SH "NAME"') + 1].replace("\\-", "-")
    assert about.startswith(f"{page.name.rpartition('.')[0]} - ")


def test_markdown_becomes_roff():
    text = """\
# flow-x - about *x*

First `a-b` and **c**,
second.

## A heading

- one
  more
- .two

1. first

```
  kept  as\\is

.dot
```

### Smaller

| a | b |
|---|---|
| `c` | d e |
"""
    assert roff.page_from_markdown(text, "flow-x", "7").splitlines() == [
        "'\\\" t",
        '.TH "FLOW\\-X" 7 "" "Flow" "Flow manual"',
        '.SH "NAME"',
        "flow\\-x \\- about \\fIx\\fR",
        ".PP",
        "First \\fBa\\-b\\fR and \\fBc\\fR, second.",
        '.SH "A HEADING"',
        ".IP \\(bu 2",
        "one more",
        ".IP \\(bu 2",
        "\\&.two",
        ".IP 1. 4",
        "first",
        ".PP",
        ".RS 4",
        ".EX",
        "  kept  as\\eis",
        "\\&",
        "\\&.dot",
        ".EE",
        ".RE",
        '.SS "Smaller"',
        ".PP",
        ".TS",
        "tab(|);",
        "lb lb",
        "l lx.",
        "a|T{",
        "b",
        "T}",
        "\\fBc\\fR|T{",
        "d e",
        "T}",
        ".TE",
    ]
