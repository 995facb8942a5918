"""`flow plan --changed REF`: what a change of DAG files does, without a database."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from flow.ops.checking.check import Settings
from flow.ops.checking.evidence import Import, import_of
from flow.ops.checking.importing import Importing
from flow.ops.checking.targets import Target, targets
from flow.ops.planning.effect import Defined, Effect, effects
from flow.ops.planning.trees import before_change
from flow.ops.rehearsal.definition import complete
from flow.ops.rehearsal.memory import Memory
from flow.process.code import code_hash, content_or_why


class Broken(NamedTuple):
    """A file that cannot be imported after the change: its DAGs would stay as they were."""

    file: str
    line: int | None
    error: str


class ChangePlan(NamedTuple):
    """What a change does, and what keeps it from doing it."""

    effects: list[Effect]
    broken: list[Broken]


class _Tree(NamedTuple):
    dags: dict[str, Defined]
    broken: list[Broken]


def change_plan(folders: Sequence[Path], reference: str, settings: Settings) -> ChangePlan:
    """Import the files of DAG folders as they are, and as they were where history has parted from a
    ref.

    Raises `NotFound` for a folder or ref that is not there, `UsageError` outside of a Git
    repository, and `KeyboardInterrupt` once every process has ended.
    """
    places = [Path(os.path.abspath(folder)) for folder in folders]  # noqa: PTH100 - links stay
    after = _tree({place: place for place in places}, settings)
    with before_change(reference, places) as old:
        before = _tree({there: place for place, there in old.items()}, settings)
    staying = {one.file for one in after.broken}
    known = {dag_id: one for dag_id, one in before.dags.items() if one.file not in staying}
    return ChangePlan(list(effects(known, after.dags, datetime.now(UTC))), after.broken)


def _tree(folders: Mapping[Path, Path], settings: Settings) -> _Tree:
    """What the files of some folders define, under the names of other folders."""
    files = {
        one.file: (one, str(named / Path(one.file).relative_to(folder)))
        for folder, named in folders.items()
        for one in targets([folder], [folder], regexp=settings.regexp_ignore).files
    }
    memory = Memory(os.environ, {}, {})
    importing = Importing(settings.limits, settings.timezone, memory, lambda done: None)
    imported = importing.run(one for one, _ in files.values()) if files else {}
    dags: dict[str, Defined] = {}
    broken = []
    for path, (target, name) in files.items():
        found = import_of(imported[path], settings.limits)
        if found.failure is not None:
            broken.append(Broken(name, found.failure.line, found.failure.error))
        for dag_id, one in _defined(target, name, found):
            dags.setdefault(dag_id, one)
    return _Tree(dags, broken)


def _defined(target: Target, name: str, found: Import) -> Iterator[tuple[str, Defined]]:
    modules = {of: content_or_why(path) for of, path in found.parsed.modules.items()}
    code = code_hash(content_or_why(target.file), modules)
    for dag in found.dags:
        yield dag.spec.dag_id, Defined(complete(dag), name, code)
