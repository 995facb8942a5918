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

MODULES: Final = (
    # standard library that task code and its operators touch first
    "collections",
    "contextlib",
    "datetime",
    "decimal",
    "functools",
    "hashlib",
    "inspect",
    "json",
    "logging",
    "re",
    "shutil",
    "subprocess",
    "tempfile",
    "traceback",
    "typing",
    "uuid",
    "zoneinfo",
    # third parties that every task meets
    "jinja2",
    "jinja2.sandbox",
    "msgspec",
    "pendulum",
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
