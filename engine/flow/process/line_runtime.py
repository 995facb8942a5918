"""`LineRuntime`: what user code asks, carried over the job line to the supervisor."""

from __future__ import annotations

import os
import sys
import threading
from functools import cached_property
from typing import Final, Protocol, TypeVar

from flow.authoring.runtime import FoundXCom, PreviousSuccess
from flow.errors import FlowError, NotFound, ProtocolError
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
)

VARIABLE_READ: Final = "flow.variable_read"
CONNECTION_READ: Final = "flow.connection_read"
"""Audit events, for whoever observes an import (`flow.process.deeds`)."""

A = TypeVar("A")


class JobLine(Protocol):
    """The child's end of its job line (`flow.process.channel.Channel`); safe between threads."""

    def send(self, message: FromChild) -> None:
        """Send a report, which has no answer."""

    def ask(self, message: FromChild) -> ToChild:
        """Send a request and wait for its answer."""


class LineRuntime:
    """A `flow.authoring.runtime.Runtime` that asks the supervisor.

    Requests and answers have no numbers: they belong together by their order. So one thread at a
    time asks, and nobody any more once an exception (of a signal handler: a stop, a timeout of
    the user's) has come between a request and its answer.
    """

    def __init__(self, line: JobLine) -> None:
        self._line = line
        self._owner = os.getpid()
        self._turn = threading.Lock()
        self._asking: int | None = None
        self._interrupted = False

    def push_xcom(self, key: str, value: str) -> None:
        """Store an XCom of this try."""
        self._ask(PushXCom(key=key, value=value), Done, f"XCom {key!r} cannot be pushed")

    def pull_xcoms(
        self,
        *,
        task_ids: tuple[str, ...],
        key: str,
        dag_id: str | None,
        run_id: str | None,
        map_path: tuple[int, ...] | None,
        include_prior_dates: bool,
    ) -> list[FoundXCom]:
        """XComs in order of task id and map path."""
        request = PullXCom(
            task_ids=task_ids,
            key=key,
            dag_id=dag_id,
            run_id=run_id,
            map_path=map_path,
            include_prior_dates=include_prior_dates,
        )
        found = self._ask(request, XComs, f"XCom {key!r} cannot be pulled")
        return [FoundXCom(xcom.task_id, xcom.map_path, xcom.value) for xcom in found.values]

    def get_variable(self, key: str) -> str:
        """Text of a variable."""
        sys.audit(VARIABLE_READ, key)
        missing = NotFound(
            f"variable {key!r} does not exist", f"make it: flow vars set {key} VALUE"
        )
        return self._ask(
            GetVariable(key=key), Value, f"variable {key!r} cannot be read", missing
        ).value

    def set_variable(self, key: str, value: str, description: str | None) -> None:
        """Create or overwrite a variable."""
        request = SetVariable(key=key, value=value, description=description)
        self._ask(request, Done, f"variable {key!r} cannot be set")

    def delete_variable(self, key: str) -> None:
        """Delete a variable."""
        missing = NotFound(f"variable {key!r} does not exist", "see: flow vars list")
        self._ask(DeleteVariable(key=key), Done, f"variable {key!r} cannot be deleted", missing)

    def get_connection(self, conn_id: str) -> str:
        """A connection in its JSON form."""
        sys.audit(CONNECTION_READ, conn_id)
        missing = NotFound(
            f"connection {conn_id!r} does not exist", f"make it: flow conns add {conn_id} --uri URI"
        )
        return self._ask(
            GetConnection(conn_id=conn_id),
            Value,
            f"connection {conn_id!r} cannot be read",
            missing,
        ).value

    def previous_success(self) -> PreviousSuccess:
        """Dates of the last successful run before this one; asked once."""
        return self._previous

    @cached_property
    def _previous(self) -> PreviousSuccess:
        run = self._ask(GetPreviousSuccess(), PreviousRun, "the previous run cannot be read")
        return PreviousSuccess(
            run.data_interval_start, run.data_interval_end, run.started_at, run.ended_at
        )

    def schedule_position(self, dag_id: str) -> SchedulePosition:
        """Where the schedule of a DAG stands."""
        return self._ask(
            GetSchedulePosition(dag_id=dag_id), SchedulePosition, "the schedule cannot be read"
        )

    def counts(self, *, failed: bool) -> bool:
        """Whether what this try comes to still counts; also when that cannot be asked any more."""
        try:
            return isinstance(self._exchange(StillCounts(failed=failed)), Done)
        except ProtocolError:
            return True

    def _ask(
        self, request: FromChild, wanted: type[A], what: str, missing: NotFound | None = None
    ) -> A:
        answer = self._exchange(request)
        if isinstance(answer, wanted):
            return answer
        if isinstance(answer, Refused):
            if answer.missing:
                raise missing or NotFound(f"{what}: {answer.error}")
            raise FlowError(f"{what}: {answer.error}")
        raise ProtocolError(f"the supervisor answered {type(answer).__name__} to a request")

    def _exchange(self, request: FromChild) -> ToChild:
        # Both looked at before the lock, which would never be free for these two.
        if os.getpid() != self._owner:
            raise ProtocolError(
                "only the process that runs the task can ask its supervisor, not a fork of it",
                "ask in the task's own process and hand the value over",
            )
        if self._asking == threading.get_ident():
            raise ProtocolError(
                "a signal handler (on_kill is one) asked in the middle of another request",
                "read connections and variables at the start of execute and keep them",
            )
        with self._turn:
            if self._interrupted:
                raise ProtocolError(
                    "an earlier request was interrupted, so answers cannot be told apart any more",
                    "do not let a timeout interrupt XComs, variables and connections",
                )
            self._asking = threading.get_ident()
            try:
                return self._line.ask(request)
            except ProtocolError:
                raise
            except BaseException:
                self._interrupted = True
                raise
            finally:
                self._asking = None
