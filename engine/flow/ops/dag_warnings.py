"""`flow dags warnings`: what imports warned of, slow ones with the module to blame, and pools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from flow.ops import pools
from flow.ops.dags import find_file
from flow.ops.deployment import Deployment
from flow.store.read import dags
from flow.store.read.dags import FileWarnings, ImportTime

SLOW: Final = 1.0
"""Seconds from which on an import is slow: every try of its tasks imports the file as well."""
_SHARE: Final = 0.5
"""Of the time, from which on a module is to blame."""


class Warned(NamedTuple):
    """One warning about a DAG file."""

    file: str
    dag_id: str | None
    """The DAG that it is about; None: the file."""
    seconds: float
    """Time of the file's import."""
    warning: str


def warnings(deployment: Deployment, file: Path | None = None, slow: float = SLOW) -> list[Warned]:
    """Warnings about all DAG files, or one. Raises `NotFound` for one that was never parsed.

    An import that took at least `slow` seconds is one, and a pool that can never do for a DAG.
    """
    conn = deployment.conn
    with deployment.snapshot():
        path = None if file is None else find_file(conn, file)
        of_pools: dict[str, list[tuple[str, str]]] = {}
        for dag_id, dag_file, text in pools.warnings(conn, path):
            of_pools.setdefault(dag_file, []).append((dag_id, text))
        found = dags.warnings(conn, slow, path, also=list(of_pools))
    return [
        Warned(one.file, dag_id, one.seconds, text)
        for one in found
        for dag_id, text in [
            *((None, text) for text in _texts(one, slow)),
            *of_pools.get(one.file, []),
        ]
    ]


def slow_import(seconds: float, imports: Sequence[ImportTime]) -> str:
    """How long an import took, and on whose account."""
    chain = list(_blamed(seconds, imports))
    said = f"the import took {seconds:.1f} s"
    if not chain:
        return f"{said}, most of it in the file's own code: move that into tasks"
    name, spent = chain[-1]
    way = "" if len(chain) == 1 else f" by way of {' → '.join(name for name, _ in chain[:-1])}"
    return f"{said}, of which {name} took {spent:.1f} s{way}: import it in the tasks that need it"


def _texts(one: FileWarnings, slow: float) -> Iterable[str]:
    if one.seconds >= slow:
        yield slow_import(one.seconds, one.imports)
    yield from one.warnings


def _blamed(seconds: float, imports: Sequence[ImportTime]) -> Iterable[tuple[str, float]]:
    """From the file to the module that spends most of the time: each imports the next one."""
    importer, left = "", list(imports)
    while True:
        inner = [one for one in left if _package(one.importer) == _package(importer)]
        heaviest = max(inner, key=lambda one: one.seconds, default=None)
        if heaviest is None or heaviest.seconds < seconds * _SHARE:
            return
        importer, seconds = heaviest.module, heaviest.seconds
        left.remove(heaviest)
        yield importer, seconds


def _package(name: str) -> str:
    return name.partition(".")[0]
