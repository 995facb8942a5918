"""How a task came to its end, or what it is doing, from its row and its last try."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Protocol

from flow.decide.reason import NO_REASON, Code, Fact, Reason
from flow.signal_name import signal_name
from flow.states import TaskState


class TaskLife(Protocol):
    """What is known of a task instance and its last try."""

    @property
    def state(self) -> str: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def reason_code(self) -> str | None: ...
    @property
    def due_at(self) -> datetime | None: ...
    @property
    def try_number(self) -> int: ...
    @property
    def max_tries(self) -> int: ...
    @property
    def started_at(self) -> datetime | None: ...
    @property
    def worker(self) -> str | None: ...
    @property
    def try_reason(self) -> str | None: ...
    @property
    def exit_code(self) -> int | None: ...
    @property
    def signal(self) -> int | None: ...


_FAILURES: Final[Mapping[str | None, Code]] = {
    code.value: code
    for code in (
        Code.TIMEOUT,
        Code.WORKER_LOST,
        Code.OUT_OF_MEMORY,
        Code.CODE_MISSING,
        Code.CODE_MISMATCH,
    )
}
_BY_HAND: Final[Mapping[str | None, Code]] = {
    code.value: code for code in (Code.MARKED, Code.CANCELLED)
}
"""What stored codes say of an end, by their values; any other says nothing more than its text."""


def by_hand(reason_code: str | None) -> Code | None:
    """The code of a task or run that somebody has ended; None: it ended otherwise."""
    return _BY_HAND.get(reason_code)


def why_busy(task: TaskLife) -> list[Reason]:
    """What a task does or waits for that has begun and not ended."""
    match task.state:
        case TaskState.RUNNING:
            facts = {**_tries(task), "worker": task.worker or "its worker"}
            if task.started_at is not None:
                return [Reason(Code.RUNNING, {**facts, "at": task.started_at}, task.started_at)]
        case TaskState.RESTARTING:
            return [Reason(Code.RESTARTING, {"worker": task.worker or "its worker"})]
        case TaskState.UP_FOR_RETRY if task.due_at is not None:
            facts = {**_tries(task), "reason": _reason(task), "at": task.due_at}
            return [Reason(Code.RETRY_DUE, facts), *_process(task)]
        case TaskState.UP_FOR_RESCHEDULE if task.due_at is not None:
            return [Reason(Code.RESCHEDULE_DUE, {"at": task.due_at})]
        case TaskState.DEFERRED:
            return [Reason(Code.DEFERRED)]
        case TaskState.AWAITING_INPUT:
            return [Reason(Code.AWAITING_INPUT)]
    return []


def why_ended(task: TaskLife) -> list[Reason]:
    """How a task ended by itself or by somebody's hand."""
    code = by_hand(task.reason_code)
    if code is not None:
        return [Reason(code, {"reason": _reason(task)})]
    if task.state == TaskState.SUCCESS:
        return [Reason(Code.SUCCESS, _tries(task))] if task.try_number else []
    if task.state == TaskState.SKIPPED:
        return [Reason(Code.SKIPPED, {"reason": _reason(task)})]
    facts = {**_tries(task), "reason": _reason(task)}
    return [Reason(_FAILURES.get(task.reason_code, Code.FAILED), facts), *_process(task)]


def _process(task: TaskLife) -> list[Reason]:
    if task.signal is not None:
        name = signal_name(task.signal) or "unknown"
        return [Reason(Code.SIGNAL, {"signal": task.signal, "name": name})]
    if task.exit_code:
        return [Reason(Code.EXIT_CODE, {"exit_code": task.exit_code})]
    return []


def _tries(task: TaskLife) -> dict[str, Fact]:
    return {"number": task.try_number, "allowed": task.max_tries}


def _reason(task: TaskLife) -> str:
    return task.reason or task.try_reason or NO_REASON
