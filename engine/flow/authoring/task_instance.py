"""`ti` in the context: the try that is running, and its XComs."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from flow.authoring import runtime, xcom_codec
from flow.authoring.dag_run import DagRun, as_pendulum
from flow.authoring.runtime import FoundXCom
from flow.errors import UsageError
from flow.task_reference import task_reference

if TYPE_CHECKING:
    from pendulum import DateTime

    from flow.authoring.operator import BaseOperator

RETURN_VALUE: Final = "return_value"


@dataclass
class Stamps:
    """Moments in the life of the process, in seconds of CLOCK_MONOTONIC."""

    received: float
    """The first statement of the process that knew its job."""


class TaskInstance:
    """One try of a task, as the task sees it, or the callbacks of its run."""

    def __init__(
        self,
        task: BaseOperator,
        dag_run: DagRun,
        *,
        try_number: int,
        max_tries: int,
        map_path: tuple[int, ...] = (),
        stamps: Stamps,
        xcom_limit: int | None = None,
        state: str = "running",
    ) -> None:
        self.task = task
        self.state = state
        self.dag_run = dag_run
        self.task_id: str = task.task_id
        self.dag_id = dag_run.dag_id
        self.run_id = dag_run.run_id
        self.try_number = try_number
        """Number of this try; the first is 1."""
        self.tries_allowed = max_tries
        """How many tries there may be, the first included."""
        self.map_path = map_path
        self.stamps = stamps
        self._xcom_limit = xcom_limit
        self._started = datetime.now(UTC)

    @property
    def max_tries(self) -> int:
        """How many retries there may be. As in Airflow, the first try does not count here."""
        return max(0, self.tries_allowed - 1)

    @property
    def map_index(self) -> int:
        """Index of a mapped task; -1 when it is not mapped."""
        return self.map_path[-1] if self.map_path else -1

    @property
    def key_text(self) -> str:
        """`dag__task__yyyymmdd`, the context's `task_instance_key_str`."""
        return f"{self.dag_id}__{self.task_id}__{self.logical_date.strftime('%Y%m%d')}"

    @property
    def logical_date(self) -> DateTime:
        """Logical date of the run."""
        return self.dag_run.logical_date

    @cached_property
    def start_date(self) -> DateTime:
        """When this try started, by the clock of its host."""
        return as_pendulum(self._started)

    @cached_property
    def hostname(self) -> str:
        """Name of the host that runs this try."""
        return socket.gethostname()

    @property
    def operator(self) -> str:
        """Name of the operator's class."""
        return type(self.task).__name__

    @property
    def log(self) -> logging.Logger:
        """A logger whose lines end up in the log of this try."""
        return logging.getLogger("flow.task")

    def xcom_push(self, key: str, value: Any) -> None:
        """Store `value` under `key` for the tasks downstream; also None can be stored.

        Raises `InvalidXCom` for a value that could not be read back as it is
        (`flow.authoring.xcom_codec`), or that is larger than the limit.
        """
        if not isinstance(key, str) or not key:
            raise UsageError(f"the key of an XCom must be text, not {key!r}", "name it")
        runtime.current().push_xcom(key, self.encode_xcom(key, value))

    def encode_xcom(self, key: str, value: Any) -> str:
        """The text that `xcom_push` stores."""
        text = xcom_codec.encode(value, task_id=self.task_id, key=key)
        if self._xcom_limit is not None:
            xcom_codec.check_size(text, self._xcom_limit, task_id=self.task_id, key=key)
        return text

    def xcom_pull(
        self,
        task_ids: str | Iterable[str] | None = None,
        dag_id: str | None = None,
        key: str = RETURN_VALUE,
        include_prior_dates: bool = False,
        *,
        map_indexes: int | Iterable[int] | None = None,
        default: Any = None,
        run_id: str | None = None,
    ) -> Any:
        """What a task pushed under `key`; `default` when it pushed nothing.

        One task id gives one value, or the list of the values of a mapped task; several give a
        list in their order. None is this task itself. `map_indexes` picks from a mapped task.
        `include_prior_dates` also looks into earlier runs, latest first.
        """
        if task_ids is None:
            task_ids = self.task_id
        single = isinstance(task_ids, str)
        names = (task_ids,) if isinstance(task_ids, str) else tuple(task_ids)
        found: dict[str, list[FoundXCom]] = {name: [] for name in names}
        for map_path in _map_paths(map_indexes):
            for xcom in runtime.current().pull_xcoms(
                task_ids=tuple(found),
                key=key,
                dag_id=dag_id,
                run_id=run_id,
                map_path=map_path,
                include_prior_dates=include_prior_dates,
            ):
                found[xcom.task_id].append(xcom)
        values = [_values(found[name], map_indexes, default) for name in names]
        if single:
            return values[0]
        # The values of a mapped task stand among the others, not in a list of their own.
        return [
            item
            for value, name in zip(values, names, strict=True)
            for item in (value if _is_mapped(found[name], map_indexes) else [value])
        ]

    def __getattr__(self, name: str) -> Any:
        modern = _GONE.get(name)
        hint = f"; write ti.{modern}" if modern else ""
        raise AttributeError(f"ti has no {name!r}{hint}")

    def __repr__(self) -> str:
        task = task_reference(self.task_id, self.map_path)
        return f"<TaskInstance {self.dag_id} {self.run_id} {task}>"


_GONE: Final = {"execution_date": "logical_date", "_try_number": "try_number"}


def _map_paths(map_indexes: int | Iterable[int] | None) -> list[tuple[int, ...] | None]:
    if map_indexes is None:
        return [None]
    indexes = [map_indexes] if isinstance(map_indexes, int) else list(map_indexes)
    return [() if index < 0 else (index,) for index in indexes]


def _is_mapped(found: list[FoundXCom], map_indexes: int | Iterable[int] | None) -> bool:
    if map_indexes is None:
        return any(xcom.map_path for xcom in found)
    return not isinstance(map_indexes, int)


def _values(found: list[FoundXCom], map_indexes: int | Iterable[int] | None, default: Any) -> Any:
    items = [xcom_codec.decode(xcom.value) for xcom in found]
    if _is_mapped(found, map_indexes):
        return items
    return items[0] if items else default
