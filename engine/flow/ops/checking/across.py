"""Rules about names that DAG files share: DAG ids, pools, queues. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from flow.enumeration import few
from flow.graph.imported import ImportedDag
from flow.graph.spec import DEFAULT_POOL, DEFAULT_QUEUE, TaskSpec
from flow.ops.checking import rules
from flow.ops.checking.evidence import Evidence, Known
from flow.ops.checking.findings import Finding
from flow.ops.checking.rules import finding
from flow.ops.suggest import did_you_mean

_SHOWN: Final = 3


def duplicates(all_evidence: Iterable[Evidence]) -> Iterator[Finding]:
    """DAG ids that several files define, told at each of them."""
    places: dict[str, list[tuple[str, int]]] = {}
    for evidence in all_evidence:
        for dag in evidence.first.dags:
            places.setdefault(dag.spec.dag_id, []).append((evidence.file, dag.line))
    for dag_id, found in sorted(places.items()):
        for file, line in found if len(found) > 1 else ():
            others = ", ".join(f"{other}:{at}" for other, at in found if other != file)
            yield finding(
                rules.DUPLICATE_DAG_ID,
                file,
                f"DAG {dag_id!r} is defined here and at {others}",
                line=line,
                dag_id=dag_id,
                hint="one of them is refused: give each DAG an id of its own",
            )


def places(evidence: Evidence, known: Known) -> Iterator[Finding]:
    """Pools and queues that tasks name and that there are not, as far as somebody has said."""
    for dag in evidence.first.dags:
        if known.pools is not None:
            names = known.pools | {DEFAULT_POOL}
            yield from _strangers(evidence, dag, "pool", names, lambda task: task.pool)
        if known.queues is not None:
            names = known.queues | {DEFAULT_QUEUE}
            yield from _strangers(evidence, dag, "queue", names, lambda task: task.queue)


def _strangers(
    evidence: Evidence,
    dag: ImportedDag,
    noun: str,
    names: frozenset[str],
    named: Callable[[TaskSpec], str],
) -> Iterator[Finding]:
    users: dict[str, list[str]] = {}
    for task in dag.spec.tasks:
        if named(task) not in names:
            users.setdefault(named(task), []).append(task.task_id)
    for name, task_ids in sorted(users.items()):
        yield finding(
            rules.UNKNOWN_POOL if noun == "pool" else rules.UNKNOWN_QUEUE,
            evidence.file,
            f"there is no {noun} {name!r}, which {few(task_ids, _SHOWN)} of DAG "
            f"{dag.spec.dag_id!r} need",
            line=dag.line,
            dag_id=dag.spec.dag_id,
            hint=did_you_mean(name, sorted(names), f"check.{noun}s in flow.toml lists all {noun}s"),
        )
