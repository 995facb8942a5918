"""Importing one DAG file, and finding in it what a job is about."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
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
from flow.process import plain_file
from flow.process.archive import ARCHIVE, modules_in
from flow.process.compiled import CodeMissing, compiled, module_name
from flow.timetables import events, interval, simple, trigger  # noqa: F401


@dataclass(frozen=True)
class LoadedFile:
    """A DAG file that has been imported."""

    file: str
    collection: Collection
    code_hash: str
    """Of the file's content; with pinned code of its local modules too (`flow.process.code`)."""

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


def load_file(
    file: str, root: str = "", timezone: str = "UTC", *, schedules: bool = True
) -> LoadedFile:
    """Import a DAG file as a module of its own and collect its DAGs.

    `root` is the DAG folder ("": the file's own folder). It is put at the end of sys.path, so that
    a `json.py` in it does not hide Python's. `timezone` is that of DAGs whose start date names
    none. Without `schedules` a wrong schedule is no error. Of an archive every module at its top is
    imported, in order of name. Raises `CodeMissing` when there is no such file, and whatever the
    file itself raises.
    """
    # Here and in what is called, plain os.path: pathlib is more pages to be copied by each child.
    folder = root or os.path.dirname(file)  # noqa: PTH120
    for part in (file, folder) if file.endswith(ARCHIVE) else (folder,):
        if part not in sys.path:
            sys.path.append(part)
    try:
        with open(file, "rb", buffering=0, opener=plain_file.opener) as opened:
            source = opened.readall()
    except FileNotFoundError:
        raise CodeMissing(
            f"file {file} does not exist", "put it back, or delete its DAGs"
        ) from None
    with collecting(file, default_timezone=timezone, schedules=schedules) as collection:
        if not file.endswith(ARCHIVE):
            own = compiled(file, source)
            collection.take(_run(file, own.module, own.code), root=folder)
            return LoadedFile(file, collection, own.content_hash)
        for name, text in modules_in(file).items():
            code: CodeType = compile(text, name, "exec", dont_inherit=True)
            collection.take(_run(name, module_name(name), code), root=folder)
    return LoadedFile(file, collection, hashlib.sha256(source).hexdigest())


def _run(file: str, name: str, code: CodeType) -> list[DAG]:
    """Run the code of a file as a module; the DAGs at its top level.

    The module is in sys.modules: dataclasses and pickle look it up there.
    """
    # What importlib.util makes of a file, without its search for a loader that fits.
    loader = SourceFileLoader(name, file)
    spec = ModuleSpec(name, loader, origin=file)
    spec.has_location = True
    module = ModuleType(name)
    module.__spec__, module.__loader__ = spec, loader
    module.__file__, module.__package__ = file, ""
    sys.modules[name] = module
    exec(code, module.__dict__)
    return [value for value in module.__dict__.values() if isinstance(value, DAG)]
