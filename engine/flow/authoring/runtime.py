"""What user code may ask of the process that supervises it.

User code runs without a database login: XComs, variables and connections come from its supervisor.
`Runtime` is that conversation as an interface; `flow.process.line_runtime` speaks it over the job
line. One process serves one job, so there is one runtime for the whole process, also for its
threads.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple, Protocol

from flow.errors import UsageError


class FoundXCom(NamedTuple):
    """One stored XCom; `value` is its JSON text (`flow.authoring.xcom_codec`)."""

    task_id: str
    map_path: tuple[int, ...]
    value: str


class PreviousSuccess(NamedTuple):
    """Dates of the last successful run before this one, aware and in UTC; None where unknown."""

    data_interval_start: datetime | None = None
    data_interval_end: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


class Runtime(Protocol):
    """The requests; each waits for its answer.

    Every one raises `flow.errors.FlowError` when the supervisor refuses, and `NotFound` when the
    thing asked for does not exist.
    """

    def push_xcom(self, key: str, value: str) -> None:
        """Store an XCom of this try."""

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
        """XComs in order of task id and map path; those that do not exist are left out."""

    def get_variable(self, key: str) -> str:
        """Text of a variable."""

    def set_variable(self, key: str, value: str, description: str | None) -> None:
        """Create or overwrite a variable."""

    def delete_variable(self, key: str) -> None:
        """Delete a variable."""

    def get_connection(self, conn_id: str) -> str:
        """A connection in its JSON form."""

    def previous_success(self) -> PreviousSuccess:
        """Dates of the last successful run before this one; all None when there is none."""

    def counts(self, *, failed: bool) -> bool:
        """Whether what this try comes to still counts: nobody has told it to stop."""


_runtime: Runtime | None = None


def use(runtime: Runtime | None) -> None:
    """Make `runtime` the one that this process asks; None: there is none."""
    global _runtime  # one process, one supervisor
    _runtime = runtime


def current() -> Runtime:
    """The runtime of this process; `UsageError` outside a process that Flow started."""
    if _runtime is None:
        raise UsageError(
            "variables, connections and XComs exist only in a process that Flow started",
            "run the file with `flow test`, or read them inside a task",
        )
    return _runtime
