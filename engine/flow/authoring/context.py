"""The context: what a running task may know, by the names that Airflow gave it.

Every name of Airflow 3 either works, or says that it is not supported yet. Names of Airflow 1 and 2
say what to write instead. All of them are in the tables below.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from contextlib import contextmanager
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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


class Facts(NamedTuple):
    """What the values of a context are made of."""

    dag: DAG
    dag_run: DagRun
    ti: TaskInstance | None = None

    @property
    def params(self) -> Mapping[str, Any]:
        """Those of the task, or of the DAG where the context is that of a run."""
        return self.dag.params if self.ti is None else self.ti.task.params


Maker = Callable[[Facts], Any]
"""Makes a value when it is first asked for."""


class Context(dict[str, Any]):
    """A dict whose values are made when they are first asked for.

    `context["name"]` raises `UnknownName` with what to write instead. `in` and `get` treat a name
    of an older Airflow like any absent one, so that code can look for either. Copying the context
    (`dict(context)`, `**context`) makes every value, and so asks for the previous success.
    """

    def __init__(self, makers: Mapping[str, Maker], facts: Facts) -> None:
        super().__init__()
        self._makers = makers
        self._facts = facts

    def __missing__(self, name: str) -> Any:
        maker = self._makers.get(name)
        if maker is None:
            raise UnknownName(f"the context has no {name!r}", advice(name, self.names))
        value = self[name] = maker(self._facts)
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
            self[name] = self._makers[name](self._facts)
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
    return Context(_OF_RUNS, Facts(dag, dag_run))


def task_context(ti: TaskInstance) -> Context:
    """The context of one try."""
    return Context(_OF_TASKS, Facts(ti.task.dag, ti.dag_run, ti))


def _logical_date_as(write: Callable[[datetime | None], str | None]) -> Maker:
    return lambda facts: write(facts.dag_run.logical_date)


def _macros(facts: Facts) -> Any:
    from flow.authoring import macros  # many templates need none of the modules it brings

    return macros


def _previous(field: str) -> Maker:
    def make(facts: Facts) -> Any:
        moment = getattr(runtime.current().previous_success(), field)
        return as_pendulum(moment) if moment else None

    return make


# Tables, not made for each context: a process serves one try, and shares them with all others.
_OF_RUNS: Final[Mapping[str, Maker]] = {
    "conn": lambda facts: ConnectionAccessor(),
    "dag": attrgetter("dag"),
    "dag_run": attrgetter("dag_run"),
    "data_interval_end": attrgetter("dag_run.data_interval_end"),
    "data_interval_start": attrgetter("dag_run.data_interval_start"),
    "logical_date": attrgetter("dag_run.logical_date"),
    "macros": _macros,
    "params": lambda facts: {**facts.params, **facts.dag_run.conf},
    "prev_data_interval_end_success": _previous("data_interval_end"),
    "prev_data_interval_start_success": _previous("data_interval_start"),
    "prev_end_date_success": _previous("ended_at"),
    "prev_start_date_success": _previous("started_at"),
    "run_id": attrgetter("dag_run.run_id"),
    "test_mode": lambda facts: False,
    "var": lambda facts: VariableForms(),
    **{name: _logical_date_as(write) for name, write in filters.DATE_FILTERS.items()},
}
_OF_TASKS: Final[Mapping[str, Maker]] = {
    **_OF_RUNS,
    "task": attrgetter("ti.task"),
    "task_instance": attrgetter("ti"),
    "task_instance_key_str": attrgetter("ti.key_text"),
    "ti": attrgetter("ti"),
    "try_number": attrgetter("ti.try_number"),
}


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
