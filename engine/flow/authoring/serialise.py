"""From a DAG as its file made it to the `DagSpec` that is stored."""

from __future__ import annotations

import warnings
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from flow.authoring.arguments import Signature, nearest
from flow.authoring.collect import AuthoringWarning
from flow.authoring.dag import DAG
from flow.authoring.moments import as_moment, in_zone, utc
from flow.authoring.operator import BaseOperator
from flow.authoring.vocabulary import TASK
from flow.authoring.weights import priorities
from flow.errors import InvalidDag, UnsupportedArgument
from flow.graph.check import check
from flow.graph.index import Graph
from flow.graph.spec import DagSpec, GroupSpec, TaskSpec
from flow.timetables.base import Timetable

if TYPE_CHECKING:
    from flow.authoring.group import TaskGroup

_DAG_ARGUMENTS = Signature(DAG.__init__).names
_TASK_EVENTS = ("execute", "failure", "retry", "skipped", "success")


def to_spec(dag: DAG) -> DagSpec:
    """The checked spec of a DAG.

    Raises `InvalidDag` for a graph that is not sound, and `UnsupportedArgument` for default
    arguments that would silently be ignored.
    """
    _check_defaults(dag)
    _check_timetable(dag)
    spec = DagSpec(
        dag_id=dag.dag_id,
        tasks=tuple(_task(dag.task_dict[task_id]) for task_id in sorted(dag.task_dict)),
        groups=tuple(_group(dag.task_group_dict[name]) for name in sorted(dag.task_group_dict)),
        timetable=dag.timetable,
        timezone=dag.timezone.key,
        start_date=utc(dag.start_date),
        end_date=utc(dag.end_date),
        catchup=dag.catchup,
        max_active_runs=dag.max_active_runs,
        max_active_tasks=dag.max_active_tasks,
        concurrency=dag.concurrency,
        dagrun_timeout=_seconds(dag.dagrun_timeout),
        fail_fast=dag.fail_fast,
        max_consecutive_failed_dag_runs=dag.max_consecutive_failed_dag_runs,
        paused_at_creation=dag.is_paused_upon_creation,
        code=dag.code,
        params=_as_json(dag),
        callbacks=tuple(
            event for event in ("failure", "success") if getattr(dag, f"on_{event}_callback")
        ),
        edge_labels={f"{up}→{down}": text for (up, down), text in dag.edges.labels.items()},
        description=dag.description,
        doc_md=dag.doc_md,
        display_name=dag.dag_display_name,
        tags=tuple(sorted(dag.tags)),
        owner_links=dag.owner_links,
    )
    try:
        check(spec)
    except InvalidDag as error:
        raise type(error)(f"{dag.caller}: {error.message}", error.hint) from None
    return _with_priorities(dag, spec)


def _with_priorities(dag: DAG, spec: DagSpec) -> DagSpec:
    found = priorities(
        Graph(spec),
        {task_id: task.priority_weight for task_id, task in dag.task_dict.items()},
        {task_id: task.weight_rule for task_id, task in dag.task_dict.items()},
    )
    tasks = tuple(
        msgspec.structs.replace(task, priority=found[task.task_id]) for task in spec.tasks
    )
    return msgspec.structs.replace(spec, tasks=tasks)


def _task(task: BaseOperator) -> TaskSpec:
    start, end = _window(task)
    group = task.task_group
    return TaskSpec(
        task_id=task.task_id,
        operator=task.operator_name,
        upstream=tuple(sorted(task.upstream_task_ids)),
        trigger_rule=task.trigger_rule,
        runs_code=task.runs_code,
        group=group.group_id if group is not None else None,
        owner=task.owner,
        retries=task.retries,
        retry_delay=task.retry_delay.total_seconds(),
        retry_exponential_backoff=task.retry_exponential_backoff,
        max_retry_delay=_seconds(task.max_retry_delay),
        execution_timeout=_seconds(task.execution_timeout),
        pool=task.pool,
        pool_slots=task.pool_slots,
        queue=task.queue,
        executor=task.executor,
        max_active_tis_per_dagrun=task.max_active_tis_per_dagrun,
        max_active_tis_per_dag=task.max_active_tis_per_dag,
        start_date=start,
        end_date=end,
        depends_on_past=task.depends_on_past,
        wait_for_downstream=task.wait_for_downstream,
        ignore_first_depends_on_past=task.ignore_first_depends_on_past,
        wait_for_past_depends_before_skipping=task.wait_for_past_depends_before_skipping,
        callbacks=tuple(event for event in _TASK_EVENTS if getattr(task, f"on_{event}_callback")),
        outlets=tuple(outlet.to_spec() for outlet in task.outlets),
        display_name=task.task_display_name,
        doc=task.doc_md or task.doc,
    )


def _group(group: TaskGroup) -> GroupSpec:
    parent = group.parent_group
    return GroupSpec(
        group_id=group.node_id,
        parent=parent.group_id if parent is not None else None,
        tooltip=group.tooltip,
    )


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()


def _as_json(dag: DAG) -> dict[str, Any]:
    """The DAG's params as JSON has them."""
    values = {}
    for name, value in dag.params.items():
        try:
            values[name] = msgspec.json.decode(msgspec.json.encode(value))
        except TypeError:
            raise InvalidDag(
                f"{dag.caller}: param {name!r} is {value!r}, which JSON cannot say",
                "params are text, numbers, booleans, None, lists and dicts of these",
            ) from None
    return values


def _window(task: BaseOperator) -> tuple[datetime | None, datetime | None]:
    """Start and end date of a task in UTC, where they narrow those of its DAG."""
    dag, where = task.dag, task.origin
    start = in_zone(as_moment("start_date", task.start_date, where), dag.timezone)
    end = in_zone(as_moment("end_date", task.end_date, where), dag.timezone)
    if start is not None and dag.start_date is not None and start <= dag.start_date:
        start = None
    if end is not None and dag.end_date is not None and end >= dag.end_date:
        end = None
    return utc(start), utc(end)


def _check_timetable(dag: DAG) -> None:
    """Hold a timetable of the user's own to what it asks for and to what Flow does not ask."""
    timetable = dag.schedule
    if not isinstance(timetable, Timetable):
        return
    limit = timetable.active_runs_limit
    if limit is not None and dag.max_active_runs > limit:
        raise InvalidDag(
            f"{dag.caller}: max_active_runs is {dag.max_active_runs}, but timetable "
            f"{type(timetable).__name__} allows {limit}",
            f"write max_active_runs={limit}",
        )
    if hasattr(timetable, "generate_run_id"):
        warnings.warn_explicit(
            f"{type(timetable).__name__}.generate_run_id is never called: runs have Flow's own ids",
            AuthoringWarning,
            *dag.caller,
        )


def _check_defaults(dag: DAG) -> None:
    """Refuse default arguments that no task takes and that were probably meant for something."""
    tasks = dag.tasks
    if not tasks:
        return
    taken = {name for task in tasks for name in task.defaults_taken}
    accepted = {name for task in tasks for name in type(task).argument_names}
    given = {
        name
        for owner in (dag.task_group, *dag.task_group_dict.values())
        for name in owner.default_args
    }
    for name in sorted(given - taken - accepted - TASK.not_yet.keys() - TASK.harmless - {"email"}):
        _refuse_default(dag, name)


def _refuse_default(dag: DAG, name: str) -> None:
    message = f"{dag.caller}: default_args of DAG {dag.dag_id!r} cannot hold {name!r}"
    if name in TASK.gone:
        raise UnsupportedArgument(message, TASK.gone[name])
    if name in _DAG_ARGUMENTS:
        raise UnsupportedArgument(
            message, f"it would be ignored: it belongs to the DAG itself, as {name}=…"
        )
    # Anything else may be meant for operators that this DAG happens not to use.
    meant = nearest(name, BaseOperator.argument_names, likeness=0.8)
    if meant:
        raise UnsupportedArgument(message, f"did you mean {meant!r}?")
