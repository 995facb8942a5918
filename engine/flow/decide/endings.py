"""How a task came to its end, or what it is doing, from its row and its last try."""

from __future__ import annotations

import signal
from datetime import datetime
from typing import Final, Protocol

from flow.decide.reason import Code, Fact, Reason
from flow.states import TaskState


class TaskLife(Protocol):
    """What is known of a task instance and its last try."""

    @property
    def state(self) -> str: ...
    @property
    def reason(self) -> str | None: ...
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


SKIPPED_BY: Final = "skipped by "
"""How the reason of a task begins that another one has skipped; the id of that follows."""
BY_RULE: Final = "trigger rule "
NOTHING_LEFT: Final = "nothing is left that could start it"
"""How the reasons begin of tasks that a decision has ended without running them."""

_BEGINNINGS: Final = {
    "execution_timeout": Code.TIMEOUT,
    "worker_lost": Code.WORKER_LOST,
    "out_of_memory": Code.OUT_OF_MEMORY,
    "code_missing": Code.CODE_MISSING,
    "code_mismatch": Code.CODE_MISMATCH,
    "marked by": Code.MARKED,
    "cancelled": Code.CANCELLED,
}
"""How reasons begin that have a code of their own; who ends tasks writes them."""


def code_of(reason: str) -> Code | None:
    """The code of a reason that was written for a task or a run; None: it has none of its own."""
    return next((code for words, code in _BEGINNINGS.items() if reason.startswith(words)), None)


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
    code = code_of(_reason(task))
    if code in (Code.MARKED, Code.CANCELLED):
        return [Reason(code, {"reason": _reason(task)})]
    if task.state == TaskState.SUCCESS:
        return [Reason(Code.SUCCESS, _tries(task))] if task.try_number else []
    if task.state == TaskState.SKIPPED:
        return [Reason(Code.SKIPPED, {"reason": _reason(task)})]
    facts = {**_tries(task), "reason": _reason(task)}
    return [Reason(code or Code.FAILED, facts), *_process(task)]


def _process(task: TaskLife) -> list[Reason]:
    if task.signal is not None:
        facts: dict[str, Fact] = {"signal": task.signal, "name": _signal_name(task.signal)}
        return [Reason(Code.SIGNAL, facts)]
    if task.exit_code:
        return [Reason(Code.EXIT_CODE, {"exit_code": task.exit_code})]
    return []


def _tries(task: TaskLife) -> dict[str, Fact]:
    return {"number": task.try_number, "allowed": task.max_tries}


def _reason(task: TaskLife) -> str:
    return task.reason or task.try_reason or "no reason was given"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
