"""`BaseOperator`: a task of a DAG, and the base of everything that can be one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from flow.authoring import collect, scope
from flow.authoring.arguments import not_yet
from flow.authoring.callbacks import Callback, Callbacks, callback_tuple
from flow.authoring.durations import duration, optional_duration
from flow.authoring.ids import legal_id
from flow.authoring.node import Node
from flow.authoring.operator_type import OperatorType
from flow.authoring.origin import Origin
from flow.authoring.outlets import Outlet, outlet_tuple
from flow.authoring.param import value_of
from flow.authoring.task_arguments import (
    backoff,
    optional_whole_number,
    trigger_rule,
    weight_rule,
    whole_number,
)
from flow.authoring.vocabulary import MAPPED_OPERATOR, SETUP, TEARDOWN, WAIT
from flow.authoring.xcom_arg import XComArg, references
from flow.errors import InvalidDag
from flow.graph.spec import (
    DEFAULT_EXECUTOR,
    DEFAULT_POOL,
    DEFAULT_QUEUE,
    TriggerRule,
)

if TYPE_CHECKING:
    from flow.authoring.context import Context
    from flow.authoring.dag import DAG
    from flow.authoring.group import TaskGroup

Hook = Callable[..., Any]


class BaseOperator(Node, metaclass=OperatorType):
    """One task. Subclasses define `execute`, and `__init__(self, *, my_arg, **kwargs)`.

    Names, meanings and defaults of the arguments are Airflow 3's. Durations are timedeltas
    (`retry_delay` and `max_retry_delay` also take seconds). A callback is a function or a list of
    functions that take the context. An argument missing in a call is taken from `default_args`
    of the group, then of the DAG.

    Attributes named in `template_fields` are templates: strings, and strings in lists and dicts,
    are rendered with Jinja before `execute`; XComArgs in them are pulled, and make this task wait.
    """

    template_fields: ClassVar[Sequence[str]] = ()
    template_ext: ClassVar[Sequence[str]] = ()
    template_fields_renderers: ClassVar[Mapping[str, str]] = {}
    operator_extra_links: ClassVar[Collection[Any]] = ()
    ui_color: str = "#fff"
    ui_fgcolor: str = "#000"

    is_group: ClassVar[bool] = False
    custom_operator_name: ClassVar[str | None] = None
    suffix_on_collision: ClassVar[bool] = False
    """Whether a second task of the same id becomes `id__1`, instead of an error."""

    origin: Origin
    defaults: dict[str, Any]
    defaults_taken: set[str]
    task_id: str
    owner: str
    retries: int
    retry_delay: timedelta
    retry_exponential_backoff: float
    max_retry_delay: timedelta | None
    start_date: datetime | None
    end_date: datetime | None
    wait_for_downstream: bool
    depends_on_past: bool
    ignore_first_depends_on_past: bool
    wait_for_past_depends_before_skipping: bool
    _params: dict[str, Any]
    default_args: dict[str, Any]
    priority_weight: int
    weight_rule: str
    queue: str
    pool: str
    pool_slots: int
    max_active_tis_per_dag: int | None
    max_active_tis_per_dagrun: int | None
    execution_timeout: timedelta | None
    on_execute_callback: tuple[Callback, ...]
    on_failure_callback: tuple[Callback, ...]
    on_success_callback: tuple[Callback, ...]
    on_retry_callback: tuple[Callback, ...]
    on_skipped_callback: tuple[Callback, ...]
    pre_execute_hook: Hook | None
    post_execute_hook: Hook | None
    trigger_rule: TriggerRule
    outlets: tuple[Outlet, ...]
    executor: str
    do_xcom_push: bool
    multiple_outputs: bool
    render_template_as_native_obj: bool | None
    logger_name: str | None
    task_display_name: str | None
    doc_md: str | None
    doc: str | None
    task_group: TaskGroup | None
    _dag: DAG | None = None
    _finished: bool = False

    def __init__(
        self,
        *,
        task_id: str,
        owner: str = "airflow",
        retries: int | None = 0,
        retry_delay: timedelta | float = timedelta(seconds=300),
        retry_exponential_backoff: float | bool = 0,
        max_retry_delay: timedelta | float | None = None,
        start_date: datetime | None = None,
        end_date: datetime | None = None,
        depends_on_past: bool = False,
        ignore_first_depends_on_past: bool = True,
        wait_for_past_depends_before_skipping: bool = False,
        wait_for_downstream: bool = False,
        dag: DAG | None = None,
        task_group: TaskGroup | None = None,
        params: Mapping[str, Any] | None = None,
        default_args: Mapping[str, Any] | None = None,
        priority_weight: int = 1,
        weight_rule: str = "downstream",
        queue: str = DEFAULT_QUEUE,
        pool: str | None = None,
        pool_slots: int = 1,
        max_active_tis_per_dag: int | None = None,
        max_active_tis_per_dagrun: int | None = None,
        execution_timeout: timedelta | None = None,
        on_execute_callback: Callbacks = None,
        on_failure_callback: Callbacks = None,
        on_success_callback: Callbacks = None,
        on_retry_callback: Callbacks = None,
        on_skipped_callback: Callbacks = None,
        pre_execute: Hook | None = None,
        post_execute: Hook | None = None,
        trigger_rule: str = TriggerRule.ALL_SUCCESS,
        outlets: Outlet | Sequence[Outlet] | None = None,
        executor: str | None = None,
        do_xcom_push: bool = True,
        multiple_outputs: bool = False,
        render_template_as_native_obj: bool | None = None,
        logger_name: str | None = None,
        task_display_name: str | None = None,
        doc: str | None = None,
        doc_md: str | None = None,
        doc_json: str | None = None,
        doc_yaml: str | None = None,
        doc_rst: str | None = None,
    ) -> None:
        where = self.origin
        # At once, past `__setattr__`: a file makes many tasks, in the process of each of them, and
        # templates among these are found when all of `__init__` has run.
        self.__dict__.update(
            task_id=legal_id("task_id", task_id, where),
            owner=owner,
            retries=whole_number("retries", retries or 0, where, least=0),
            retry_delay=duration("retry_delay", retry_delay, where),
            retry_exponential_backoff=backoff(retry_exponential_backoff, where),
            max_retry_delay=optional_duration("max_retry_delay", max_retry_delay, where),
            start_date=start_date,
            end_date=end_date,
            wait_for_downstream=bool(wait_for_downstream),
            depends_on_past=bool(depends_on_past or wait_for_downstream),
            ignore_first_depends_on_past=bool(ignore_first_depends_on_past),
            wait_for_past_depends_before_skipping=bool(wait_for_past_depends_before_skipping),
            _params=dict(params or {}),
            default_args=dict(default_args or {}),
            priority_weight=whole_number("priority_weight", priority_weight, where),
            weight_rule=_weight_rule(weight_rule, where),
            queue=queue,
            pool=pool or DEFAULT_POOL,
            pool_slots=whole_number("pool_slots", pool_slots, where, least=1),
            max_active_tis_per_dag=optional_whole_number(
                "max_active_tis_per_dag", max_active_tis_per_dag, where, least=1
            ),
            max_active_tis_per_dagrun=optional_whole_number(
                "max_active_tis_per_dagrun", max_active_tis_per_dagrun, where, least=1
            ),
            execution_timeout=optional_duration(
                "execution_timeout", execution_timeout, where, seconds=False
            ),
            on_execute_callback=callback_tuple("on_execute_callback", on_execute_callback, where),
            on_failure_callback=callback_tuple("on_failure_callback", on_failure_callback, where),
            on_success_callback=callback_tuple("on_success_callback", on_success_callback, where),
            on_retry_callback=callback_tuple("on_retry_callback", on_retry_callback, where),
            on_skipped_callback=callback_tuple("on_skipped_callback", on_skipped_callback, where),
            pre_execute_hook=pre_execute,
            post_execute_hook=post_execute,
            trigger_rule=_trigger_rule(trigger_rule, where),
            outlets=outlet_tuple(outlets, where),
            executor=executor or DEFAULT_EXECUTOR,
            do_xcom_push=do_xcom_push,
            multiple_outputs=multiple_outputs,
            render_template_as_native_obj=render_template_as_native_obj,
            logger_name=logger_name,
            task_display_name=task_display_name or None,
            doc_md=doc_md,
            doc=doc or doc_rst or doc_json or doc_yaml,
            task_group=None,
        )
        self._join(dag, task_group)

    def _join(self, dag: DAG | None, group: TaskGroup | None) -> None:
        """Enter the DAG and group that were given, else those that are open, else none yet."""
        collect.note_task(self)
        dag = dag or (group.dag if group is not None else scope.current_dag())
        if dag is None:
            return
        group = group if group is not None else scope.current_group(dag)
        self.task_id = group.child_id(self.task_id)
        if self.suffix_on_collision:
            self.task_id = dag.unique_id(self.task_id)
        dag.add_task(self, group)

    def finish(self) -> None:
        """Called when all of `__init__` has run: wait for the XComArgs in template fields."""
        self._finished = True
        for name in self.template_fields:
            if not hasattr(self, name):
                raise InvalidDag(
                    f"{self.origin}: {type(self).__name__} has template field {name!r}, "
                    "but no such attribute",
                    f"set self.{name} in __init__, or take it out of template_fields",
                )
            self._wait_for(getattr(self, name))

    def _wait_for(self, value: Any) -> None:
        for reference in references(value):
            for operator in reference.operators():
                operator.set_downstream(self)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if self._finished and name in self.template_fields:
            self._wait_for(value)

    # ── what a subclass defines ──────────────────────────────────────────────────────────────────

    def execute(self, context: Context) -> Any:
        """Do the work; what it returns is the XCom `return_value` (unless None)."""
        raise NotImplementedError(f"{type(self).__name__} does not define execute(context)")

    def on_kill(self) -> None:
        """Clean up what `execute` has started; called when the task is told to stop."""

    def pre_execute(self, context: Context) -> None:
        """Called with the context before `execute`; the argument of this name is called here."""
        if self.pre_execute_hook is not None:
            self.pre_execute_hook(context)

    def post_execute(self, context: Context, result: Any = None) -> None:
        """Called after `execute` with its result; the argument of this name is called here."""
        if self.post_execute_hook is not None:
            self.post_execute_hook(context, result)

    @property
    def runs_code(self) -> bool:
        """Whether the task needs a process of its own to run."""
        return True

    @property
    def log(self) -> logging.Logger:
        """The logger of the task: its lines go to the log of the try."""
        name = self.logger_name or type(self).__name__
        return logging.getLogger(f"flow.task.operators.{name}")

    # ── place in the DAG ─────────────────────────────────────────────────────────────────────────

    @property
    def dag(self) -> DAG:
        """The DAG of the task. Raises `InvalidDag` when it has none yet."""
        if self._dag is None:
            raise collect.without_dag(self)
        return self._dag

    @dag.setter
    def dag(self, dag: DAG) -> None:
        dag.add_task(self)

    def has_dag(self) -> bool:
        """Whether the task belongs to a DAG yet."""
        return self._dag is not None

    def enter(self, dag: DAG, group: TaskGroup) -> None:
        """Become a task of `dag`. For `DAG.add_task`, which keeps the books."""
        self._dag, self.task_group = dag, group

    @property
    def dag_id(self) -> str:
        """The id of the task's DAG."""
        return self.dag.dag_id

    @property
    def node_id(self) -> str:
        """The task id."""
        return self.task_id

    @property
    def label(self) -> str:
        """The id without the prefix of its group."""
        prefix = self.task_group.child_id("") if self.task_group is not None else ""
        return self.task_id.removeprefix(prefix)

    @property
    def end(self) -> BaseOperator:
        """The task itself."""
        return self

    @property
    def upstream_task_ids(self) -> set[str]:
        """Ids of the tasks that this one waits for directly."""
        return set(self._dag.edges.upstream[self.task_id]) if self._dag else set()

    @property
    def downstream_task_ids(self) -> set[str]:
        """Ids of the tasks that wait directly for this one."""
        return set(self._dag.edges.downstream[self.task_id]) if self._dag else set()

    @property
    def upstream_list(self) -> list[BaseOperator]:
        """The tasks that this one waits for directly, by id."""
        return [self.dag.task_dict[name] for name in sorted(self.upstream_task_ids)]

    @property
    def downstream_list(self) -> list[BaseOperator]:
        """The tasks that wait directly for this one, by id."""
        return [self.dag.task_dict[name] for name in sorted(self.downstream_task_ids)]

    def get_direct_relatives(self, upstream: bool = False) -> Iterator[BaseOperator]:
        """The tasks directly downstream, or upstream."""
        yield from self.upstream_list if upstream else self.downstream_list

    def get_flat_relative_ids(self, *, upstream: bool = False) -> set[str]:
        """Ids of all tasks downstream, or upstream, at any distance."""
        if self._dag is None:
            return set()
        edges = self._dag.edges
        return edges.reach([self.task_id], edges.upstream if upstream else edges.downstream)

    @property
    def params(self) -> dict[str, Any]:
        """The params of the DAG, updated by the task's own."""
        own = {name: value_of(value) for name, value in self._params.items()}
        return {**(self._dag.params if self._dag else {}), **own}

    @property
    def output(self) -> XComArg:
        """The result of the task, to be an argument of another."""
        return XComArg(self)

    @property
    def task_type(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def operator_name(self) -> str:
        """What the task is, for people: the class, or the decorator that made it."""
        return self.custom_operator_name or self.task_type

    # ── not supported yet ────────────────────────────────────────────────────────────────────────

    @classmethod
    def partial(cls, **_: Any) -> Any:
        """Mapping is not supported yet."""
        raise not_yet(f"dynamic task mapping ({cls.__name__}.partial)", MAPPED_OPERATOR)

    def as_setup(self) -> Any:
        """Not supported yet."""
        raise not_yet("a setup task (as_setup)", SETUP)

    def as_teardown(self, **_: Any) -> Any:
        """Not supported yet."""
        raise not_yet("a teardown task (as_teardown)", TEARDOWN)

    def defer(self, **_: Any) -> Any:
        """Not supported yet."""
        raise not_yet("deferral (defer)", WAIT)

    def __repr__(self) -> str:
        return f"<Task({self.task_type}): {self.task_id}>"


# In `__init__` the arguments of the same names hide these two.
_trigger_rule, _weight_rule = trigger_rule, weight_rule
