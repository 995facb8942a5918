"""The context: what a running task may know, by the names that Airflow gave it.

Every name of Airflow 3 either works, or says that it is not supported yet. Names of Airflow 1 and 2
say what to write instead. All of them are in the tables below.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from flow.authoring import filters, runtime
from flow.authoring.arguments import nearest
from flow.authoring.connection import ConnectionAccessor
from flow.authoring.dag_run import DagRun, as_pendulum
from flow.authoring.variable import VariableForms
from flow.errors import UnsupportedArgument, UsageError

if TYPE_CHECKING:
    from flow.authoring.dag import DAG
    from flow.authoring.task_instance import TaskInstance

NOT_YET: Final = frozenset(
    {
        "asset_state_store",
        "expanded_ti_count",
        "inlet_events",
        "inlets",
        "map_index_template",
        "outlet_events",
        "outlets",
        "partition_date",
        "partition_key",
        "task_reschedule_count",
        "task_state_store",
        "triggering_asset_events",
    }
)
"""Names that Airflow has and Flow does not have yet."""

GONE: Final[Mapping[str, str]] = {
    "conf": "write dag_run.conf for what the run was started with; settings are not for tasks",
    "execution_date": "write logical_date",
    "latest_date": "write ds",
    "next_ds": "write data_interval_end | ds",
    "next_ds_nodash": "write data_interval_end | ds_nodash",
    "next_execution_date": "write data_interval_end",
    "prev_ds": "write prev_data_interval_start_success | ds, or macros.ds_add(ds, -1)",
    "prev_ds_nodash": "write prev_data_interval_start_success | ds_nodash",
    "prev_execution_date": "write prev_data_interval_start_success",
    "prev_execution_date_success": "write prev_data_interval_start_success",
    "tomorrow_ds": "write macros.ds_add(ds, 1)",
    "tomorrow_ds_nodash": "write macros.ds_add(ds, 1) | replace('-', '')",
    "yesterday_ds": "write macros.ds_add(ds, -1)",
    "yesterday_ds_nodash": "write macros.ds_add(ds, -1) | replace('-', '')",
}
"""Names of Airflow 1 and 2, and what to write instead."""


class UnknownName(UnsupportedArgument, KeyError):
    """The context has no such name."""

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class Context(dict[str, Any]):
    """A dict whose values are made when they are first asked for.

    `context["name"]` raises `UnknownName` with what to write instead. `in` and `get` treat a name
    of an older Airflow like any absent one, so that code can look for either. Copying the context
    (`dict(context)`, `**context`) makes every value, and so asks for the previous success.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Any]]) -> None:
        super().__init__()
        self._makers = dict(makers)

    def __missing__(self, name: str) -> Any:
        maker = self._makers.get(name)
        if maker is None:
            raise UnknownName(f"the context has no {name!r}", advice(name, self.names))
        value = self[name] = maker()
        return value

    @property
    def names(self) -> frozenset[str]:
        """All names; this makes no value."""
        return frozenset(self._makers.keys() | dict.keys(self))

    def get(self, name: str, default: Any = None) -> Any:
        """The value, or `default` where there is none."""
        return self[name] if name in self else default  # noqa: SIM401 - this is that get

    def setdefault(self, name: str, default: Any = None) -> Any:
        """The value; where there is none, `default` becomes it."""
        if name not in self:
            self[name] = default
        return self[name]

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._complete().keys())

    def __len__(self) -> int:
        return len(self._complete())

    def __eq__(self, other: object) -> bool:
        return self._complete() == other

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[override]
        return self._complete() | dict(other)

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """All names."""
        return self._complete().keys()

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """All values."""
        return self._complete().values()

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """All names and values."""
        return self._complete().items()

    def copy(self) -> dict[str, Any]:
        """A plain dict of all names and values."""
        return dict(self._complete())

    def _complete(self) -> dict[str, Any]:
        for name in self._makers.keys() - dict.keys(self):
            self[name] = self._makers[name]()
        return {name: dict.__getitem__(self, name) for name in dict.keys(self)}


def advice(name: str, known: Iterable[str]) -> str:
    """What to write instead of a name that does not exist."""
    if name in GONE:
        return GONE[name]
    if name in NOT_YET:
        return "it is not supported yet: remove it"
    meant = nearest(name, known)
    if meant:
        return f"did you mean {meant!r}?"
    return "remove it, or define it with user_defined_macros of the DAG"


def refused(name: str) -> bool:
    """Whether a name is one of another Airflow, which no template may use by accident."""
    return name in GONE or name in NOT_YET


def run_context(dag: DAG, dag_run: DagRun) -> Context:
    """The context of a run, for its callbacks: what needs no task."""
    return Context(_run_makers(dag, dag_run, dag.params))


def task_context(ti: TaskInstance) -> Context:
    """The context of one try."""
    task = ti.task
    makers = _run_makers(task.dag, ti.dag_run, task.params)
    makers.update(
        {
            "task": lambda: task,
            "task_instance": lambda: ti,
            "task_instance_key_str": lambda: ti.key_text,
            "ti": lambda: ti,
            "try_number": lambda: ti.try_number,
        }
    )
    return Context(makers)


def _run_makers(
    dag: DAG, dag_run: DagRun, params: Mapping[str, Any]
) -> dict[str, Callable[[], Any]]:
    makers: dict[str, Callable[[], Any]] = {
        "conn": ConnectionAccessor,
        "dag": lambda: dag,
        "dag_run": lambda: dag_run,
        "data_interval_end": lambda: dag_run.data_interval_end,
        "data_interval_start": lambda: dag_run.data_interval_start,
        "logical_date": lambda: dag_run.logical_date,
        "macros": _macros,
        "params": lambda: {**params, **dag_run.conf},
        "run_id": lambda: dag_run.run_id,
        "test_mode": lambda: False,
        "var": VariableForms,
    }
    for name, write in filters.DATE_FILTERS.items():
        makers[name] = _logical_date_as(write, dag_run)
    for name, field in _PREVIOUS.items():
        makers[name] = partial(_previous, field)
    return makers


def _logical_date_as(
    write: Callable[[datetime | None], str | None], dag_run: DagRun
) -> Callable[[], Any]:
    return lambda: write(dag_run.logical_date)


def _macros() -> Any:
    from flow.authoring import macros  # many templates need none of the modules it brings

    return macros


_PREVIOUS: Final = {
    "prev_data_interval_end_success": "data_interval_end",
    "prev_data_interval_start_success": "data_interval_start",
    "prev_end_date_success": "ended_at",
    "prev_start_date_success": "started_at",
}


def _previous(field: str) -> Any:
    moment = getattr(runtime.current().previous_success(), field)
    return as_pendulum(moment) if moment else None


_active: list[Context] = []


@contextmanager
def active(context: Context) -> Iterator[None]:
    """Make `context` the one that `get_current_context` finds."""
    _active.append(context)
    try:
        yield
    finally:
        _active.pop()


def get_current_context() -> Context:
    """The context of the task that this process runs; `UsageError` where no task runs."""
    if not _active:
        raise UsageError(
            "there is no current context: no task is running",
            "call get_current_context() inside a task, not while the file is imported",
        )
    return _active[-1]
