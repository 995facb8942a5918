"""`DAG`: tasks, what they wait for, and when they run together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from zoneinfo import ZoneInfo

from flow.authoring import collect, scope
from flow.authoring.arguments import checked, is_one_of, not_yet
from flow.authoring.callbacks import Callbacks, callback_tuple
from flow.authoring.durations import optional_duration
from flow.authoring.group import TaskGroup
from flow.authoring.ids import legal_id
from flow.authoring.links import Edges, Link
from flow.authoring.moments import as_moment, in_zone
from flow.authoring.origin import Origin, caller
from flow.authoring.param import DagParam, value_of
from flow.authoring.task_arguments import whole_number
from flow.authoring.vocabulary import DAG as WORDS
from flow.errors import DuplicateId, InvalidDag, NotFound
from flow.timetables import Timetable, parse
from flow.timetables.zone_names import zone_name

if TYPE_CHECKING:
    import os

    from flow.authoring.operator import BaseOperator

_CATCHUP = (True, False, "none")
_CODE = ("pinned", "latest", None)


class DAG:
    """A graph of tasks; used as `with DAG("name", schedule="@daily", …):`, or through `@dag`.

    Names, meanings and defaults are Airflow 3's, except:

    - `schedule` is a cron, one of its names, a timedelta or a timetable. Crons and timedeltas make
      data intervals: the run of a day is created when the day has ended. All rules: flow-time(7).
    - `catchup` False makes a run of the latest complete interval only, True of all of them,
      "none" waits for the next tick.
    - `concurrency` limits active tasks over all runs of the DAG; `max_active_tasks` within one.
    - `code` says which code the tasks of a run use; its graph it keeps anyhow. "latest": the code
      as it is when they start; "pinned": that of the version the run has, or they end as
      `code_mismatch`. None: as `dags.code` says.

    The time zone of the DAG, in which cron schedules are read, is that of `start_date`. A naive
    start date is in the default time zone (UTC unless set). `start_date` and `end_date` missing
    here are taken from `default_args`.
    """

    @checked("DAG", WORDS)
    def __init__(
        self,
        dag_id: str,
        *,
        description: str | None = None,
        schedule: Any = None,
        start_date: datetime | None = None,
        end_date: datetime | None = None,
        catchup: bool | str = False,
        default_args: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        max_active_tasks: int = 16,
        max_active_runs: int = 16,
        concurrency: int | None = None,
        dagrun_timeout: timedelta | None = None,
        fail_fast: bool = False,
        max_consecutive_failed_dag_runs: int | None = 0,
        code: str | None = None,
        on_success_callback: Callbacks = None,
        on_failure_callback: Callbacks = None,
        template_searchpath: str | Iterable[str] | None = None,
        template_undefined: type[Any] | None = None,
        user_defined_macros: Mapping[str, Any] | None = None,
        user_defined_filters: Mapping[str, Callable[..., Any]] | None = None,
        jinja_environment_kwargs: Mapping[str, Any] | None = None,
        render_template_as_native_obj: bool = False,
        doc_md: str | None = None,
        dag_display_name: str | None = None,
        tags: Collection[str] | None = None,
        owner_links: Mapping[str, str] | None = None,
        is_paused_upon_creation: bool | None = None,
        auto_register: bool = True,
    ) -> None:
        where = caller()
        self.dag_id = legal_id("dag_id", dag_id, where)
        self.description = description
        self.default_args: dict[str, Any] = dict(default_args or {})
        first = as_moment("start_date", start_date or self.default_args.get("start_date"), where)
        last = as_moment("end_date", end_date or self.default_args.get("end_date"), where)
        self.timezone = _zone(first, where)
        self.start_date = in_zone(first, self.timezone)
        self.end_date = in_zone(last, self.timezone)
        self.schedule = schedule
        self.catchup = _one_of("catchup", catchup, _CATCHUP, where)
        self.code = _one_of("code", code, _CODE, where)
        self.max_active_tasks = whole_number("max_active_tasks", max_active_tasks, where, least=1)
        self.max_active_runs = whole_number("max_active_runs", max_active_runs, where, least=1)
        self.concurrency = (
            None
            if concurrency is None
            else whole_number("concurrency", concurrency, where, least=1)
        )
        self.dagrun_timeout = optional_duration(
            "dagrun_timeout", dagrun_timeout, where, seconds=False
        )
        self.fail_fast = bool(fail_fast)
        self.max_consecutive_failed_dag_runs = whole_number(
            "max_consecutive_failed_dag_runs", max_consecutive_failed_dag_runs or 0, where, least=0
        )
        self.on_success_callback = callback_tuple("on_success_callback", on_success_callback, where)
        self.on_failure_callback = callback_tuple("on_failure_callback", on_failure_callback, where)
        self.template_searchpath = _paths(template_searchpath)
        self.template_undefined = template_undefined
        self.user_defined_macros = dict(user_defined_macros or {})
        self.user_defined_filters = dict(user_defined_filters or {})
        self.jinja_environment_kwargs = dict(jinja_environment_kwargs or {})
        self.render_template_as_native_obj = render_template_as_native_obj
        self.doc_md = doc_md
        self.dag_display_name = dag_display_name or None
        self.tags = _tags(tags, where)
        self.owner_links = dict(owner_links or {})
        self.is_paused_upon_creation = is_paused_upon_creation
        self.auto_register = auto_register
        self.params: dict[str, Any] = {}
        for given in (self.default_args.get("params"), params):
            if given:
                self.params.update((name, value_of(value)) for name, value in given.items())
        self.caller = where
        """The line that called `DAG(…)`."""
        if collect.needs_schedules():
            self.timetable  # noqa: B018 - raises here what is wrong with it
        self.task_dict: dict[str, BaseOperator] = {}
        """All tasks, by id."""
        self.task_group_dict: dict[str, TaskGroup] = {}
        """All task groups, by full id."""
        self.task_group = TaskGroup.root(self, self.default_args, where)
        self._links: list[Link] = []
        self._edges: Edges | None = None
        self._suffixes: dict[str, int] = {}
        self.origin = collect.note_dag(self)
        """The top-level line of the file that made the DAG."""

    @cached_property
    def timetable(self) -> Timetable:
        """What the schedule means. Raises `InvalidDag`."""
        try:
            return parse(self.schedule, self.timezone.key, self.dag_id)
        except InvalidDag as error:
            raise InvalidDag(f"{self.caller}: {error.message}", error.hint) from error

    # ── tasks and edges ──────────────────────────────────────────────────────────────────────────

    def add_task(self, task: BaseOperator, group: TaskGroup | None = None) -> None:
        """Make `task` part of the DAG, in `group` or at the top.

        Raises `InvalidDag` when its id is taken, or when it belongs to another DAG.
        """
        if task.has_dag():
            if task.dag is self:
                return
            raise InvalidDag(
                f"{caller()}: task {task.task_id!r} belongs to DAG {task.dag.dag_id!r} already",
                "make a task of its own for each DAG",
            )
        self._refuse_taken("task_id", task.task_id, task.origin)
        group = group if group is not None else self.task_group
        self.task_dict[task.task_id] = task
        group.children[task.task_id] = task
        task.enter(self, group)
        self._edges = None

    def add_tasks(self, tasks: Iterable[BaseOperator]) -> None:
        """Make every task part of the DAG."""
        for task in tasks:
            self.add_task(task)

    def add_group(self, group: TaskGroup) -> None:
        """Make `group` part of the DAG. Raises `InvalidDag` when its id is taken."""
        self._refuse_taken("group_id", group.node_id, group.origin)
        self.task_group_dict[group.node_id] = group
        if group.task_group is not None:
            group.task_group.children[group.node_id] = group
        self._edges = None

    def add_link(self, link: Link) -> None:
        """Let one task or group wait for another; for `>>`, which checks both ends."""
        self._links.append(link)
        self._edges = None

    def _refuse_taken(self, kind: str, name: str, where: Origin) -> None:
        taken = self.task_dict.get(name) or self.task_group_dict.get(name)
        if taken is not None:
            what = "a task group" if taken.is_group else "a task"
            raise DuplicateId(
                f"{where}: {kind} {name!r} is taken in DAG {self.dag_id!r} "
                f"by {what} made at {taken.origin}",
                "give each task and each group an id of its own",
            )

    def unique_id(self, name: str) -> str:
        """`name` when it is free, else `name__1`, `name__2`, …"""
        if name not in self.task_dict and name not in self.task_group_dict:
            return name
        number = self._suffixes.get(name, 0) + 1
        while f"{name}__{number}" in self.task_dict or f"{name}__{number}" in self.task_group_dict:
            number += 1
        self._suffixes[name] = number
        return f"{name}__{number}"

    @property
    def edges(self) -> Edges:
        """What waits for what, task by task; groups are resolved to their first and last tasks."""
        if self._edges is None:
            self._edges = Edges(self.task_group, self._links)
        return self._edges

    @property
    def tasks(self) -> list[BaseOperator]:
        """All tasks, in the order in which they were made."""
        return list(self.task_dict.values())

    @property
    def task_ids(self) -> list[str]:
        """All task ids, in the order in which they were made."""
        return list(self.task_dict)

    @property
    def roots(self) -> list[BaseOperator]:
        """Tasks that wait for nothing."""
        return [task for name, task in self.task_dict.items() if not self.edges.upstream[name]]

    @property
    def leaves(self) -> list[BaseOperator]:
        """Tasks that nothing waits for."""
        return [task for name, task in self.task_dict.items() if not self.edges.downstream[name]]

    def has_task(self, task_id: str) -> bool:
        """Whether the DAG has a task of this id."""
        return task_id in self.task_dict

    def get_task(self, task_id: str) -> BaseOperator:
        """The task of this id. Raises `NotFound`."""
        try:
            return self.task_dict[task_id]
        except KeyError:
            raise NotFound(f"DAG {self.dag_id!r} has no task {task_id!r}") from None

    def param(self, name: str, *default: Any) -> DagParam:
        """A reference to the run's param `name`; a default given here becomes the DAG's.

        Raises `InvalidDag` when there is no default, here or in `params`.
        """
        if default:
            self.params[name] = value_of(default[0])
        if name not in self.params:
            raise InvalidDag(
                f"{caller()}: DAG {self.dag_id!r} has no param {name!r}",
                "give it a default: params={…}, or dag.param(name, default)",
            )
        return DagParam(self, name, self.params[name])

    @property
    def fileloc(self) -> str:
        """The file that made the DAG."""
        return self.origin.file

    @property
    def folder(self) -> str:
        """The folder of that file: relative template files are looked up there."""
        return str(Path(self.fileloc).parent)

    def test(
        self,
        run_after: None = None,
        logical_date: datetime | str | None = None,
        run_conf: Mapping[str, Any] | None = None,
        conn_file_path: str | os.PathLike[str] | None = None,
        variable_file_path: str | os.PathLike[str] | None = None,
        use_executor: bool = False,
        mark_success_pattern: None = None,
    ) -> None:
        """Run the DAG here and now, as `flow test` does with the file that made it (flow-test(7)).

        Names are those of Airflow. `logical_date` is the start of the interval, by default of the
        latest complete one. Raises `SystemExit` when the run fails, `UnsupportedArgument` for what
        Flow does not have yet.
        """
        for name, value in (
            ("run_after", run_after),
            ("use_executor", use_executor or None),
            ("mark_success_pattern", mark_success_pattern),
        ):
            if value is not None:
                raise not_yet(f"{name}={value!r} of dag.test()")
        from flow.authoring import trial  # no role needs what it imports

        given = trial.Trial(logical_date, run_conf, conn_file_path, variable_file_path)
        trial.run(trial.command(self, given))

    def __enter__(self) -> Self:
        scope.open_dags.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        scope.open_dags.pop()

    def __repr__(self) -> str:
        return f"<DAG: {self.dag_id}>"


def _zone(start: datetime | None, where: Origin) -> ZoneInfo:
    if start is None or start.tzinfo is None:
        return ZoneInfo(collect.default_timezone())
    try:
        return ZoneInfo(zone_name(start.tzinfo))
    except InvalidDag as error:
        raise InvalidDag(f"{where}: start_date: {error.message}", error.hint) from error


def _one_of(name: str, value: Any, choices: tuple[Any, ...], where: Origin) -> Any:
    if not is_one_of(value, choices):
        words = ", ".join(repr(choice) for choice in choices)
        raise InvalidDag(f"{where}: {name}={value!r} is not one of {words}")
    return value


def _paths(value: str | Iterable[str] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(str(path) for path in value)


def _tags(tags: Collection[str] | None, where: Origin) -> set[str]:
    if isinstance(tags, str):
        raise InvalidDag(f"{where}: tags must be a list, not {tags!r}", f"write tags=[{tags!r}]")
    return set(tags or ())
