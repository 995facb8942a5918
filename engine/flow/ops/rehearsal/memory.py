"""What a store would keep for one run, held in memory, and the answers to user code from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from flow.authoring.connection import Connection, connection_from_env_value
from flow.authoring.task_instance import RETURN_VALUE
from flow.errors import FlowError, NotFound
from flow.process.messages import (
    DeleteVariable,
    Done,
    FromChild,
    GetConnection,
    GetPreviousSuccess,
    GetSchedulePosition,
    GetVariable,
    PreviousRun,
    PullXCom,
    PushXCom,
    Refused,
    SchedulePosition,
    SetVariable,
    StillCounts,
    ToChild,
    Value,
    XComs,
    XComValue,
)
from flow.secrets import names


class Stored(NamedTuple):
    """What stands in for the store of a deployment (`[test]` in `flow.toml`)."""

    variables: Mapping[str, str]
    connections: Mapping[str, Connection]


@dataclass(slots=True)
class Memory:
    """Variables, connections and XComs of one run.

    A variable is what was given for the rehearsal, else what the environment says, else what the
    run itself has set, else what is stored: as for a worker, where the environment comes before
    the store.
    """

    environ: Mapping[str, str]
    variables: dict[str, str]
    connections: Mapping[str, Connection]
    stored: Stored = field(default_factory=lambda: Stored({}, {}))
    dag_id: str = ""
    run_id: str = ""
    _given: frozenset[str] = field(init=False)
    _xcoms: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of the last try of each task, by key."""

    def __post_init__(self) -> None:
        self._given = frozenset(self.variables)
        self.variables = {**self.stored.variables, **self.variables}

    def begin_try(self, task_id: str) -> None:
        """Forget the XComs of the task's tries before: readers see those of the last one."""
        self._xcoms[task_id] = {}

    def returned(self, task_id: str, value: str) -> None:
        """Keep what a task returned."""
        self._xcoms.setdefault(task_id, {})[RETURN_VALUE] = value

    def answer(self, message: FromChild, task_id: str | None) -> ToChild:
        """Answer user code: of a try of `task_id`, or of an import or callback (None)."""
        try:
            return self._answer(message, task_id)
        except FlowError as error:
            return Refused(error=error.message, missing=isinstance(error, NotFound))

    def _answer(self, message: FromChild, task_id: str | None) -> ToChild:
        match message:
            case GetVariable(key=key):
                return Value(value=self._variable(key))
            case GetConnection(conn_id=conn_id):
                return Value(value=self._connection(conn_id).to_json())
            case SetVariable(key=key, value=value):
                self.variables[key] = value
                return Done()
            case DeleteVariable(key=key):
                if self.variables.pop(key, None) is None:
                    return Refused(error=f"there is no variable {key!r}", missing=True)
                return Done()
            case PushXCom(key=key, value=value) if task_id is not None:
                self._xcoms.setdefault(task_id, {})[key] = value
                return Done()
            case PullXCom():
                return self._pull(message)
            case StillCounts():
                return Done()
            case GetPreviousSuccess():
                return PreviousRun()
            case GetSchedulePosition():
                return SchedulePosition()
            case _:
                return Refused(error=f"{type(message).__name__} cannot be asked for here")

    def _variable(self, key: str) -> str:
        name = names.variable_in_environment(key)
        if key not in self._given and name in self.environ:
            return self.environ[name]
        if key not in self.variables:
            raise NotFound(f"there is no variable {key!r}")
        return self.variables[key]

    def _connection(self, conn_id: str) -> Connection:
        if conn_id in self.connections:
            return self.connections[conn_id]
        text = self.environ.get(names.connection_in_environment(conn_id), "").strip()
        if text:
            return connection_from_env_value(conn_id, text)
        if conn_id in self.stored.connections:
            return self.stored.connections[conn_id]
        raise NotFound(f"there is no connection {conn_id!r}")

    def _pull(self, message: PullXCom) -> XComs:
        """XComs of this run; no other one exists."""
        if (message.dag_id or self.dag_id) != self.dag_id:
            return XComs()
        if not message.include_prior_dates and (message.run_id or self.run_id) != self.run_id:
            return XComs()
        if message.map_path:
            return XComs()
        wanted = sorted(self._xcoms if message.task_ids is None else set(message.task_ids))
        return XComs(
            values=tuple(
                XComValue(task_id=task_id, value=self._xcoms[task_id][message.key])
                for task_id in wanted
                if message.key in self._xcoms.get(task_id, {})
            )
        )
