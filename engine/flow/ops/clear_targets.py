"""What a clear is about: its wish, and what that comes to in each version of each DAG."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from flow.decide.reason import Code
from flow.errors import NotFound
from flow.graph import Graph
from flow.graph.compare import compare
from flow.ops.run_ranges import Which
from flow.ops.selection import Selected, everything, select, widen
from flow.ops.task_references import TaskReference
from flow.states import TaskState
from flow.store.instances import Instance
from flow.store.read.dags import StoredDag
from flow.store.read.runs import FoundRun

Version = Literal["latest", "run"]
Pinned = tuple[str, int]
"""What runs are pinned to: dag_id and version."""


class Wish(NamedTuple):
    """What is to be cleared.

    `dag` is an id, or a glob over ids. `tasks` is a selection, None all tasks; `states` narrows it
    to instances in one of them, and so does the condition of `which`, which may ask for fields of
    tasks too (`flow.ops.task_conditions`) and may be given with a run. `version`: the graph that
    the runs have from then on, the DAG's latest one or their own.
    """

    dag: str
    which: Which
    tasks: str | None = None
    upstream: bool = False
    downstream: bool = False
    states: Collection[TaskState] | None = None
    version: Version = "latest"


class Target(NamedTuple):
    """The graph that runs are to have from then on, and what is selected of it.

    `changed` are its tasks that are others than in the graph the runs have, with the fields that
    differ. `codeless` are its tasks whose code is gone, with how their tries would end.
    """

    version: int
    graph: Graph
    selected: Selected
    changed: Mapping[str, list[str]]
    codeless: Mapping[str, Code]


def pinned(one: FoundRun) -> Pinned:
    """What a run is pinned to."""
    return one.run.dag_id, one.run.version


def find_targets(
    dags: Mapping[str, StoredDag],
    found: Sequence[FoundRun],
    graphs: Mapping[str, Graph],
    wish: Wish,
    default_code: str,
    other_code: Collection[Pinned],
) -> dict[Pinned, Target]:
    """By what runs are pinned to: what they are to have. `default_code` is what `dags.code` says.

    `other_code` are versions that keep their code, and whose code their file does not have now.
    Of several DAGs and versions, those are left out in which nothing is selected. Raises `NotFound`
    when that is so in all of them.
    """
    own = {pinned(one): graphs[one.spec_hash] for one in found}
    missing: list[NotFound] = []
    targets: dict[Pinned, Target] = {}
    for (dag_id, version), graph in own.items():
        dag = dags[dag_id]
        latest = wish.version == "latest"
        number, after = (dag.version, graphs[dag.spec_hash]) if latest else (version, graph)
        try:
            selected = _select(after, wish)
        except NotFound as error:
            missing.append(_pointing_back(error, dag, version, graph, wish, default_code))
        else:
            changed = {} if number == version else _changes(graph, after)
            if keeps_code(after, default_code):
                codeless = _mismatched(after) if (dag_id, number) in other_code else {}
            else:
                codeless = _gone(after, graphs[dag.spec_hash])
            targets[dag_id, version] = Target(number, after, selected, changed, codeless)
    if missing and not targets:
        raise missing[0]
    return targets


def keeps_code(graph: Graph, default_code: str) -> bool:
    """Whether the tries of runs with this graph use the code of it.

    Else they use the file as it is, and what is not in it any more cannot run. A DAG that says
    neither does as `default_code` says.
    """
    return (graph.spec.code or default_code) == "pinned"


def to_have(one: FoundRun, dags: Mapping[str, StoredDag], wish: Wish) -> tuple[Pinned, str]:
    """Which version a run is to have, and the hash of its spec."""
    if wish.version == "run":
        return pinned(one), one.spec_hash
    dag = dags[one.run.dag_id]
    return (dag.dag_id, dag.version), dag.spec_hash


def touched(
    found: Iterable[FoundRun], graphs: Mapping[str, Graph], targets: Mapping[Pinned, Target]
) -> set[str]:
    """Tasks whose rows may change: those selected, and those that a new version does not have."""
    names: set[str] = set()
    own = {pinned(one): graphs[one.spec_hash] for one in found}
    for key, target in targets.items():
        names |= target.selected.instances.keys()
        names |= own[key].tasks.keys() - target.graph.tasks.keys()
    return names


def require_instances(
    found: Sequence[FoundRun],
    targets: Mapping[Pinned, Target],
    rows: Mapping[int, Sequence[Instance]],
) -> None:
    """Raise `NotFound` where an instance is named, such as `load[3]`, that none of the runs has."""
    named = {
        TaskReference(task_id, path)
        for target in targets.values()
        for task_id, paths in target.selected.instances.items()
        for path in paths or ()
    }
    if not named:
        return
    there = {TaskReference(row.task_id, row.map_path) for one in rows.values() for row in one}
    missing = sorted(named - there)
    if not missing:
        return
    task_id = missing[0].task_id
    run = found[0].run
    has = f"run {run.run_id!r} has" if len(found) == 1 else f"{len(found)} runs have"
    raise NotFound(
        f"{has} no {', '.join(map(str, missing))}",
        f"{task_id} is not mapped, so it is named without an index"
        if TaskReference(task_id) in there
        else f"`flow tasks list {run.dag_id} {run.run_id}` shows what there is",
    )


def _select(graph: Graph, wish: Wish) -> Selected:
    selected = everything(graph) if wish.tasks is None else select(graph, wish.tasks)
    return widen(graph, selected, upstream=wish.upstream, downstream=wish.downstream)


def _pointing_back(
    error: NotFound, dag: StoredDag, version: int, own: Graph, wish: Wish, default_code: str
) -> NotFound:
    """The same, saying it where only the latest version lacks what is selected."""
    if wish.version == "run":
        return error
    try:
        _select(own, wish)
    except NotFound:
        return error
    has = f"version {version}, which the run has, does"
    return NotFound(
        f"{error.message} in its latest version, {dag.version}",
        f"{has}: --version run clears it there"
        if keeps_code(own, default_code)
        else f"{has}, but its code is gone from the file: it stays as it ended",
    )


def _mismatched(graph: Graph) -> dict[str, Code]:
    """The tasks of a version that keeps its code, where that is not to be had."""
    return {task.task_id: Code.CODE_MISMATCH for task in graph.tasks.values() if task.runs_code}


def _gone(graph: Graph, latest: Graph) -> dict[str, Code]:
    """The tasks that the file as it is does not have any more."""
    return {
        task.task_id: Code.CODE_MISSING
        for task in graph.tasks.values()
        if task.runs_code and task.task_id not in latest.tasks
    }


def _changes(before: Graph, after: Graph) -> dict[str, list[str]]:
    differences = compare(before.spec, after.spec)
    changed = {
        task.task_id: [change.field for change in task.fields] for task in differences.tasks_changed
    }
    for _, task_id in (*differences.edges_added, *differences.edges_removed):
        fields = changed.setdefault(task_id, [])
        if "upstream" not in fields and task_id in before.tasks and task_id in after.tasks:
            fields.append("upstream")
    return {task_id: fields for task_id, fields in changed.items() if fields}
