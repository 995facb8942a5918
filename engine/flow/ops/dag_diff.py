"""`flow dags diff`: what changed between two versions of a DAG."""

from __future__ import annotations

from typing import NamedTuple

from flow.errors import NotFound, UsageError
from flow.graph import decode
from flow.graph.compare import Differences, FieldChange, TaskChanges, compare
from flow.ops.deployment import Deployment
from flow.ops.references import find_dag
from flow.store import specs
from flow.store.connect import Conn
from flow.store.read import dags
from flow.store.read.dags import Version

__all__ = ["DagDiff", "Differences", "FieldChange", "TaskChanges", "between", "diff"]


class DagDiff(NamedTuple):
    """Two versions of a DAG, and what makes the second another one."""

    dag_id: str
    before: Version
    after: Version
    differences: Differences

    @property
    def code_changed(self) -> bool:
        """Whether the file, or a local module that it imports, differs."""
        return self.before.code_hash != self.after.code_hash


def diff(
    deployment: Deployment, dag_id: str, first: int | None = None, second: int | None = None
) -> DagDiff:
    """Compare versions `first` and `second`: by default the last but one and the latest.

    Raises `NotFound`, and `UsageError` for a DAG that has only one version when none is named.
    """
    conn = deployment.conn
    with deployment.snapshot():
        dag = find_dag(conn, dag_id)
        if first is None:
            numbers = sorted(version.number for version in dags.versions(conn, dag_id, None))
            if len(numbers) < 2:
                raise UsageError(
                    f"DAG {dag_id!r} has one version only, so there is nothing to compare",
                    f"`flow dags show {dag_id}` shows it",
                )
            first = numbers[-2]
        return between(conn, dag_id, first, dag.version if second is None else second)


def between(conn: Conn, dag_id: str, first: int, second: int) -> DagDiff:
    """Compare two versions. Raises `NotFound`."""
    known = {version.number: version for version in dags.versions(conn, dag_id, None)}
    after = _version(dag_id, known, second)
    before = _version(dag_id, known, first)
    bodies = specs.load(conn, {before.spec_hash, after.spec_hash})
    old, new = (decode(bodies[version.spec_hash]) for version in (before, after))
    return DagDiff(dag_id, before, after, compare(old, new))


def _version(dag_id: str, known: dict[int, Version], number: int) -> Version:
    if number not in known:
        numbers = sorted(known)
        raise NotFound(
            f"DAG {dag_id!r} has no version {number}",
            f"it has versions {numbers[0]} to {numbers[-1]}",
        )
    return known[number]
