"""`flow dags warnings`: what imports warned of, slow ones with the module to blame, and pools."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from flow.ops import pools
from flow.ops.dags import find_file
from flow.ops.deployment import Deployment
from flow.ops.slow_imports import SLOW, Cost, slow_import
from flow.store.read import dags, status
from flow.store.read.dags import FileWarnings
from flow.store.read.page import Page, Total


class Warned(NamedTuple):
    """One warning about a DAG file, or about what a DAG processor cannot read or heed."""

    file: str
    dag_id: str | None
    """The DAG that it is about; None: the file."""
    seconds: float | None
    """Time of the file's import; None: it is no DAG file."""
    warning: str


def page(
    deployment: Deployment,
    file: Path | None = None,
    slow: float = SLOW,
    limit: int | None = None,
) -> Page[Warned]:
    """Warnings about all DAG files, or one. Raises `NotFound` for one that was never parsed.

    An import that took at least `slow` seconds is one, and a pool that can never do for a DAG. What
    living processors cannot do with the folders comes first, unless a file is named.
    """
    conn = deployment.conn
    with deployment.snapshot():
        path = None if file is None else find_file(conn, file)
        of_pools: dict[str, list[tuple[str, str]]] = {}
        for dag_id, dag_file, text in pools.warnings(conn, path):
            of_pools.setdefault(dag_file, []).append((dag_id, text))
        found = dags.warnings(conn, slow, path, also=list(of_pools))
        of_folders = status.warned(conn) if path is None else []
    warned = [Warned(one.path, None, None, f"on {one.host}: {one.text}") for one in of_folders]
    warned += [
        Warned(one.file, dag_id, one.seconds, text)
        for one in found
        for dag_id, text in [
            *((None, text) for text in _texts(one, slow)),
            *of_pools.get(one.file, []),
        ]
    ]
    return Page(warned[:limit], Total(len(warned)))


def _texts(one: FileWarnings, slow: float) -> Iterable[str]:
    if one.seconds >= slow:
        yield slow_import(one.seconds, [Cost(*cost) for cost in one.imports])
    yield from one.warnings
