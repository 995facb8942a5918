"""Modules that the zygote imports before it forks, so that no child has to.

A first `import json` in a child costs 14–21 ms, as much as fifteen forks. What is here is shared
memory in every child; nothing here may start a thread, open a connection or load SQLAlchemy,
psycopg, typer or rich.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from typing import Final

FOREIGN: Final = (
    # standard library that task code, operators and Flow itself touch first
    "array",
    "collections",
    "contextlib",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "faulthandler",
    "fcntl",
    "functools",
    "hashlib",
    "inspect",
    "json",
    "logging",
    "re",
    "resource",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "traceback",
    "typing",
    "uuid",
    "zipfile",
    "zoneinfo",
    # third parties that every task meets
    "cronsim",
    "jinja2",
    "jinja2.nativetypes",
    "jinja2.sandbox",
    "msgspec",
    "pendulum",
)
MODULES: Final = (
    *FOREIGN,
    # the authoring API, with what DAG files import
    "flow",
    "flow.authoring",
    "flow.operators",
)


def load(modules: Iterable[str]) -> None:
    """Import modules; one that fails is reported and left to the children, whom it costs time."""
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:
            sys.stderr.write(f"flow: cannot load {name} ahead: {type(error).__name__}: {error}\n")
