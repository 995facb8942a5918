"""Importing a DAG file as the parse process does, without a process."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from flow import DAG
from flow.authoring.collect import Collection, collecting


def load(path: Path, *, default_timezone: str = "UTC") -> Collection:
    """The DAGs that the file makes; its folder is the DAG folder."""
    code = compile(path.read_text(), str(path), "exec")
    namespace = {"__name__": path.stem, "__file__": str(path)}
    with collecting(path, default_timezone=default_timezone) as dags:
        exec(code, namespace)
        bound = [value for value in namespace.values() if isinstance(value, DAG)]
        dags.take(bound, root=path.parent)
    return dags


def load_text(folder: Path, text: str, name: str = "one.py") -> Collection:
    """The DAGs of a file with this text, dedented."""
    path = folder / name
    path.write_text(dedent(text).lstrip())
    return load(path)
