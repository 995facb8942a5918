"""DAG files of one test, and what `flow test` makes of them. Taken into `tests/cli/conftest.py`."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

HEAD = """
import os, signal, sys, time
from datetime import datetime, timedelta
from flow import DAG, dag, task, chain, Variable, Connection
from flow.operators.bash import BashOperator
from flow.operators.empty import EmptyOperator
"""

Write = Callable[..., Path]


@pytest.fixture
def write(project: Path) -> Write:
    """Write a DAG file: the body of one DAG named `d`, or with `whole` a file as it stands."""

    def write_file(body: str, *, arguments: str = "", head: str = "", whole: bool = False) -> Path:
        path = project / "d.py"
        text = textwrap.dedent(body)
        if not whole:
            opening = f"with DAG('d', {arguments}):\n"
            text = HEAD + head + opening + textwrap.indent(text, "    ")
        path.write_text(text)
        return path

    return write_file


@pytest.fixture
def rehearse(flow: Run) -> Callable[..., tuple[dict[str, Any], Any]]:
    """Run `flow test d.py … -o json`; the document it printed."""

    def run(*arguments: str, code: int = 0, **variables: str) -> tuple[dict[str, Any], Any]:
        ended = flow("test", "d.py", "-o", "json", *arguments, **variables)
        assert ended.code == code, ended.err
        return json.loads(ended.out), ended

    return run


Rehearse = Callable[..., tuple[dict[str, Any], Any]]


def states(result: dict[str, Any]) -> dict[str, str]:
    return {task["task_id"]: task["state"] for task in result["tasks"]}


def task(result: dict[str, Any], task_id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in result["tasks"] if one["task_id"] == task_id)
    return found
