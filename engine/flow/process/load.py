"""Importing one DAG file, and finding in it what a job is about."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

# What DAG files import is loaded with this module: once, and not again in every child.
from flow.authoring import (  # noqa: F401
    connection,
    context,
    dag_decorator,
    group_decorator,
    param,
    relations,
    task_decorator,
    variable,
)
from flow.authoring.collect import Collection, collecting
from flow.authoring.dag import DAG
from flow.authoring.operator import BaseOperator
from flow.errors import NotFound
from flow.timetables import events, interval, simple, trigger  # noqa: F401


class CodeMissing(NotFound):
    """The file, DAG or task of a job is not there any more."""

    code = "code_missing"


@dataclass(frozen=True)
class LoadedFile:
    """A DAG file that has been imported."""

    file: str
    module: ModuleType
    collection: Collection
    code_hash: str
    """SHA-256 of the source, in hexadecimal."""

    def dag(self, dag_id: str) -> DAG:
        """The DAG of this id; `CodeMissing` when the file does not make it (any more)."""
        dag = self.collection.get(dag_id)
        if dag is None:
            raise CodeMissing(
                f"DAG {dag_id!r} is not in {self.file} any more",
                "the file has changed since the run was made; clear it with the latest version",
            )
        return dag

    def task(self, dag_id: str, task_id: str) -> BaseOperator:
        """The task of this id; `CodeMissing` when the file does not make it (any more)."""
        dag = self.dag(dag_id)
        if not dag.has_task(task_id):
            raise CodeMissing(
                f"task {task_id!r} is not in DAG {dag_id!r} of {self.file} any more",
                "the file has changed since the run was made; clear it with the latest version",
            )
        return dag.get_task(task_id)


def load_file(file: str, root: str = "", timezone: str = "UTC") -> LoadedFile:
    """Import a DAG file as a module of its own and collect its DAGs.

    `root` is the DAG folder ("": the file's own folder). It is put at the end of sys.path, so that
    a `json.py` in it does not hide Python's. `timezone` is that of DAGs whose start date names
    none. Raises `CodeMissing` when there is no such file, and whatever the file itself raises.
    """
    folder = Path(root) if root else Path(file).parent
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        source = Path(file).read_bytes()
    except FileNotFoundError:
        raise CodeMissing(
            f"file {file} does not exist", "put it back, or delete its DAGs"
        ) from None
    module = _new_module(file)
    code: CodeType = compile(source, file, "exec", dont_inherit=True)
    with collecting(file, default_timezone=timezone) as collection:
        exec(code, module.__dict__)
        made = [value for value in module.__dict__.values() if isinstance(value, DAG)]
        collection.take(made, root=folder)
    return LoadedFile(file, module, collection, hashlib.sha256(source).hexdigest())


def _new_module(file: str) -> ModuleType:
    """An empty module for a file, in sys.modules: dataclasses and pickle look it up there.

    Its name tells files of equal names apart and collides with no module that can be imported.
    """
    name = f"dag_file_{hashlib.sha256(file.encode()).hexdigest()[:12]}_{Path(file).stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None:
        raise CodeMissing(f"file {file} is not a Python file", "DAG files end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    return module
