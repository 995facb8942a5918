"""Structural checks: nothing that fails one of them is ever stored.

Ids use a fixed legal alphabet (ASCII letters, digits, `-`, `_`, `.`), so that they are safe as file
names, in URLs and in shells; `.` may not start an id, which rules out `.` and `..`.
"""

from __future__ import annotations

import re

from flow.errors import Cycle, DuplicateId, InvalidDag
from flow.graph.spec import DagSpec, TriggerRule

MAX_ID = 250
_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*\Z")


def check_id(kind: str, value: object) -> str:
    """The id itself when it is legal, else `InvalidDag` naming the rule it breaks.

    `kind` is the word for the message: "dag_id", "task_id", "group_id", …
    """
    if not isinstance(value, str) or not value:
        raise InvalidDag(f"{kind} must be a non-empty string, not {value!r}")
    if len(value) > MAX_ID:
        raise InvalidDag(
            f"{kind} {value[:40]!r}… has {len(value)} characters; at most {MAX_ID} are allowed"
        )
    if not _ID.match(value):
        raise InvalidDag(
            f"{kind} {value!r} is not legal",
            "use ASCII letters, digits, '-', '_' and '.', not starting with '.'",
        )
    return value


def check(spec: DagSpec) -> DagSpec:
    """The spec itself when it is sound.

    Raises `InvalidDag` for an illegal id, a timetable that cannot be or does not fit the limits,
    two tasks (or a task and a group) of one id, an edge to a task that is not in the DAG, another
    trigger rule beside `fail_fast`, or a cycle, whose path the message names.
    """
    check_id("dag_id", spec.dag_id)
    spec.timetable.check()
    if spec.timetable.alone and spec.max_active_runs != 1:
        raise InvalidDag(
            f"DAG {spec.dag_id!r} runs {spec.timetable.words()}, but max_active_runs is "
            f"{spec.max_active_runs}",
            "write max_active_runs=1",
        )
    names: dict[str, str] = {}
    for kind, name in [
        *(("group_id", group.group_id) for group in spec.groups),
        *(("task_id", task.task_id) for task in spec.tasks),
    ]:
        check_id(kind, name)
        if name in names:
            raise DuplicateId(
                f"{kind} {name!r} is used twice in DAG {spec.dag_id!r} (also as {names[name]})",
                "give each task and each group an id of its own",
            )
        names[name] = kind
    for task in spec.tasks:
        for upstream in task.upstream:
            if names.get(upstream) != "task_id":
                raise InvalidDag(
                    f"task {task.task_id!r} depends on {upstream!r}, "
                    f"which is not in DAG {spec.dag_id!r}",
                    "both ends of a dependency must belong to the same DAG",
                )
    _check_fail_fast(spec)
    cycle = _find_cycle({task.task_id: task.upstream for task in spec.tasks})
    if cycle:
        raise Cycle(
            f"DAG {spec.dag_id!r} has a cycle: {' >> '.join(cycle)}",
            "remove one of these dependencies",
        )
    return spec


def _check_fail_fast(spec: DagSpec) -> None:
    """What waits for failures would never get its turn (Airflow's rule as well)."""
    if not spec.fail_fast:
        return
    for task in spec.tasks:
        if task.trigger_rule is not TriggerRule.ALL_SUCCESS:
            raise InvalidDag(
                f"DAG {spec.dag_id!r} has fail_fast=True, and its task {task.task_id!r} "
                f"the trigger rule {task.trigger_rule}",
                "a DAG with fail_fast can only have the trigger rule all_success",
            )


def _find_cycle(upstream: dict[str, tuple[str, ...]]) -> list[str]:
    """One cycle in the order of execution, its first task repeated at the end; [] if none."""
    done: set[str] = set()
    for start in upstream:
        path: list[str] = []
        on_path: dict[str, int] = {}
        stack: list[tuple[str, int]] = [(start, 0)]
        while stack:
            task_id, position = stack.pop()
            if position == 0:
                if task_id in done:
                    continue
                on_path[task_id] = len(path)
                path.append(task_id)
            if position < len(upstream[task_id]):
                stack.append((task_id, position + 1))
                above = upstream[task_id][position]
                if above in on_path:
                    return [*reversed([above, *path[on_path[above] + 1 :], above])]
                if above not in done:
                    stack.append((above, 0))
            else:
                done.add(task_id)
                del on_path[path.pop()]
    return []
