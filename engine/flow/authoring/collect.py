"""The DAGs that one file makes while it is imported."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flow.authoring.origin import Origin, caller, top_level
from flow.errors import DuplicateId, InvalidDag

if TYPE_CHECKING:
    from flow.authoring.dag import DAG
    from flow.authoring.dag_decorator import DagFunction
    from flow.authoring.operator import BaseOperator


class AuthoringWarning(UserWarning):
    """A DAG file says something that is probably not meant."""


class Found(NamedTuple):
    """A DAG and the line of its file where it was made."""

    dag: DAG
    line: int


class Collection:
    """The DAGs of one file, in the order in which they were made.

    A DAG belongs to the file whose top-level code made it, also through a factory in another
    module. One that was made by importing another file belongs to that file. A try of a task has
    no need of `schedules`: there they are not looked at.
    """

    def __init__(self, path: str, default_timezone: str, *, schedules: bool) -> None:
        self.given = path
        self.schedules = schedules
        self.default_timezone = default_timezone
        self._found: dict[str, Found] = {}
        self._tasks: list[BaseOperator] = []
        self._factories: list[DagFunction] = []

    @cached_property
    def path(self) -> str:
        """The file, without links; few need to know."""
        return os.path.realpath(self.given)

    def __iter__(self) -> Iterator[Found]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    def get(self, dag_id: str) -> DAG | None:
        """The DAG `dag_id` of this file, or None."""
        found = self._found.get(dag_id)
        return found.dag if found else None

    def add(self, dag: DAG, line: int) -> None:
        """Take a DAG. Raises `InvalidDag` when the file has made another one of its id."""
        before = self._found.setdefault(dag.dag_id, Found(dag, line))
        if before.dag is not dag:
            raise DuplicateId(
                f"{self.path}:{line}: DAG {dag.dag_id!r} was made before, in line {before.line}",
                "give each DAG an id of its own",
            )

    def take(self, dags: Iterable[DAG], *, root: str) -> None:
        """Take those of `dags`, bound at the module's top level, that no DAG file makes.

        These are DAGs of this file with `auto_register=False`, and DAGs imported from a module
        outside of `root`, the DAG folder; a DAG made by another file within it belongs to that.
        """
        for dag in dags:
            if self.get(dag.dag_id) is dag:
                continue
            if self._is_own(dag.origin.file):
                self.add(dag, dag.origin.line)
            elif not Path(dag.origin.file).resolve().is_relative_to(os.path.realpath(root)):
                self.add(dag, 1)

    def note_dag(self, dag: DAG, made: Origin) -> None:
        """Take a DAG that has just been made, if this file made it."""
        if dag.auto_register and self._is_own(made.file):
            self.add(dag, made.line)

    def note_task(self, task: BaseOperator) -> None:
        """Remember a task, so that one without a DAG is found."""
        self._tasks.append(task)

    def note_factory(self, factory: DagFunction) -> None:
        """Remember a `@dag` function, so that one that was never called is found."""
        if self._is_own(factory.origin.file):
            self._factories.append(factory)

    def _is_own(self, file: str) -> bool:
        """Whether a source file is this one, or a module at the top of it if it is an archive."""
        if file == self.given:
            return True
        path = os.path.realpath(file)
        return self.path in (path, os.path.dirname(path))  # noqa: PTH120

    def warn_of_factories(self) -> None:
        """Warn of each `@dag` function that made no DAG."""
        for factory in self._factories:
            if not factory.called:
                name = factory.function.__name__
                warnings.warn_explicit(
                    f"the @dag function {name} is never called, "
                    f"so it makes no DAG; add {name}() at the end of the file",
                    AuthoringWarning,
                    *factory.origin,
                )

    def check_tasks(self) -> None:
        """Raise `InvalidDag` for a task that has been made and belongs to no DAG."""
        for task in self._tasks:
            if not task.has_dag():
                raise without_dag(task)


_open: list[Collection] = []


@contextmanager
def collecting(
    path: str | Path, *, default_timezone: str = "UTC", schedules: bool = True
) -> Iterator[Collection]:
    """Collect the DAGs that the file `path` makes while the block imports it.

    `default_timezone` is the zone of DAGs whose start date names none, and `schedules` says whether
    a wrong schedule is an error. Raises `InvalidDag` for a dag id used twice in the file, and for a
    task without a DAG.
    """
    collection = Collection(os.fspath(path), default_timezone, schedules=schedules)
    _open.append(collection)
    try:
        yield collection
    finally:
        _open.pop()
    collection.check_tasks()
    collection.warn_of_factories()


def note_dag(dag: DAG) -> Origin:
    """Tell the open collection of a new DAG; the line that made it."""
    if not _open:
        return caller()
    made = top_level()
    _open[-1].note_dag(dag, made)
    return made


def note_task(task: BaseOperator) -> None:
    """Tell the open collection of a new task."""
    if _open:
        _open[-1].note_task(task)


def note_factory(factory: DagFunction) -> None:
    """Tell the open collection of a new `@dag` function."""
    if _open:
        _open[-1].note_factory(factory)


def default_timezone() -> str:
    """The zone of DAGs whose start date names none."""
    return _open[-1].default_timezone if _open else "UTC"


def needs_schedules() -> bool:
    """Whether it is of interest what the schedule of a new DAG means."""
    return not _open or _open[-1].schedules


def without_dag(task: BaseOperator) -> InvalidDag:
    """The error for a task that belongs to no DAG."""
    return InvalidDag(
        f"{task.origin}: task {task.task_id!r} does not belong to a DAG",
        "make it inside `with DAG(…):` or a @dag function, or pass dag=",
    )
