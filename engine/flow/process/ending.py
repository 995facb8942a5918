"""How a try has ended, once its job is over: pure.

Whoever supervises tries asks here: a worker, which writes the ending to the store, and `flow test`,
which keeps it in memory.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Protocol, assert_never

from flow.decide import (
    AfterTry,
    Ending,
    TryFacts,
    after_failure,
    after_loss,
    lost,
    orphaned_callback,
)
from flow.decide.reason import Code
from flow.process.events import JobEnded
from flow.process.memory import Shortage
from flow.process.messages import Outcome
from flow.signal_name import signal_name
from flow.states import TaskState, TryState

ZYGOTE_DIED: Final = "the worker's zygote died"
"""Why tries are lost that go down with their zygote."""

CUT_SHORT: Final = frozenset({"stop", "lease", "zygote"})
"""Why processes are killed that have done nothing wrong (`JobEnded.killed`)."""

_REPORTABLE: Final = frozenset({TaskState.SUCCESS, TaskState.FAILED, TaskState.SKIPPED})
"""What a task's process may report as its end."""


class RunningTry(TryFacts, Protocol):
    """What is known of a try that has a process. Durations in seconds."""

    @property
    def execution_timeout(self) -> float | None: ...


class StopCause(Enum):
    """Why a supervisor itself ended a process."""

    TIMEOUT = "execution_timeout"
    STALE = "stale"
    """The claim no longer counts: marked, or taken for lost."""
    CLEARED = "cleared"
    """The task is to run again, once this process is dead."""
    DRAIN = "drain"
    STOPPED = "stopped"
    """The run is to end, and this try with it."""


_OVERRULING: Final = frozenset({StopCause.TIMEOUT, StopCause.STOPPED})
"""Causes after which a process can only have succeeded, or ended by them."""


def ending(
    task: RunningTry, ended: JobEnded, cause: StopCause | None, stop_reason: str | None = None
) -> Ending | None:
    """How a try has ended; None: nobody is to hear of it.

    `stop_reason` says why, for a cause of `STOPPED`.
    """
    if cause is StopCause.STALE:
        return None
    if cause is StopCause.CLEARED:
        return _cleared(ended)
    outcome = ended.result if isinstance(ended.result, Outcome) else None
    if outcome is not None and outcome.state not in _REPORTABLE:
        # User code shares the process and can write on its line whatever it likes.
        reason = f"the process reported {outcome.state!r}, which is no end of a try"
        return _closed(ended, after_failure(task), TryState.FAILED, reason)
    if outcome is not None and not _overruled(outcome, cause):
        return _reported(task, ended, outcome)
    match cause:
        case StopCause.DRAIN:
            return _closed(ended, after_loss(task), TryState.DRAINED, "worker drained")
        case StopCause.TIMEOUT:
            reason = f"execution_timeout: still running after {task.execution_timeout:g} s"
            return _closed(ended, after_failure(task), TryState.FAILED, reason, code=Code.TIMEOUT)
        case StopCause.STOPPED:
            return _closed(ended, AfterTry(TaskState.SKIPPED), TryState.SKIPPED, stop_reason)
        case None:
            return _died(task, ended)
        case _:
            assert_never(cause)


def _overruled(outcome: Outcome, cause: StopCause | None) -> bool:
    """Whether a process ended by this cause, whatever it says of itself.

    What it can still do when its worker drains is succeed or skip. How code that handles SIGTERM
    itself then fails is the drain's doing, and costs no retry.
    """
    if cause is StopCause.DRAIN:
        return outcome.state == TaskState.FAILED
    return cause in _OVERRULING and outcome.state != TaskState.SUCCESS


def needs_callback(state: TaskState, ended: JobEnded) -> str | None:
    """The kind of callback to run in a process of its own, since the try's own died before it.

    `state` is what becomes of the task.
    """
    return None if isinstance(ended.result, Outcome) else orphaned_callback(state)


def unstartable(task: TryFacts, reason: str) -> Ending:
    """The end of a try that can have no process, on any worker: it has failed."""
    after = after_failure(task)
    return Ending(after.state, TryState.FAILED, reason, delay=after.delay)


def _cleared(ended: JobEnded) -> Ending:
    """Whatever it came to: it was to be stopped and is dead."""
    return Ending(
        state=TaskState.NONE,
        try_state=TryState.RESTARTED,
        exit_code=ended.exit_code,
        signal=ended.signal,
        peak_rss=ended.peak_rss,
        cpu_time=ended.cpu_time,
    )


def _reported(task: TryFacts, ended: JobEnded, outcome: Outcome) -> Ending:
    """The process reported its end itself."""
    state = TaskState(outcome.state)
    if state is TaskState.FAILED:
        if outcome.mismatch:
            reason = outcome.reason or "code_mismatch"
            return _closed(
                ended,
                after_loss(task),
                TryState.CODE_MISMATCH,
                reason,
                outcome,
                Code.CODE_MISMATCH,
            )
        after = after_failure(task, may_retry=outcome.retry)
        code = Code.CODE_MISSING if outcome.missing else None
        return _closed(ended, after, TryState.FAILED, outcome.reason or "failed", outcome, code)
    return Ending(
        state=state,
        try_state=TryState(outcome.state),
        reason=outcome.reason,
        exit_code=_exit_code(ended, outcome),
        signal=ended.signal,
        peak_rss=ended.peak_rss,
        cpu_time=ended.cpu_time,
        code_hash=outcome.code_hash,
        skips=outcome.skips,
        value=outcome.value,
    )


def _died(task: TryFacts, ended: JobEnded) -> Ending:
    """The process died without a word: by itself, or ended by its zygote."""
    if ended.killed == "lease":
        reason = "lease_expired: the worker could not prove in time that it still held the task"
        return _closed(ended, after_loss(task), TryState.LEASE_EXPIRED, reason)
    if ended.killed == "zygote":
        return lost(task, ZYGOTE_DIED)
    reason = _death(ended)
    code = Code.OUT_OF_MEMORY if _killed_for_memory(ended) else None
    return _closed(ended, after_failure(task), TryState.FAILED, reason, code=code)


def _killed_for_memory(ended: JobEnded) -> bool:
    """Whether the kernel says that it was killed for want of memory."""
    killed = ended.error is None and ended.signal is not None
    return killed and ended.shortage is not None and ended.shortage.kills > 0


def _death(ended: JobEnded) -> str:
    if ended.error is not None:
        return ended.error
    if ended.signal is not None:
        name = signal_name(ended.signal) or f"signal {ended.signal}"
        return _with_shortage(f"the process was killed by {name}", ended.shortage)
    return f"the process ended with exit code {ended.exit_code} and reported no result"


def _with_shortage(death: str, shortage: Shortage | None) -> str:
    """The death with what is known of memory; named out_of_memory where the kernel said so."""
    if shortage is None:
        return death
    used = f"it had used up to {_size(shortage.used)} of {_size(shortage.limit)}"
    if not shortage.kills:
        return f"{death}; {used} of memory, so that memory may have run out"
    kills = "a kill" if shortage.kills == 1 else f"{shortage.kills} kills"
    return (
        f"out_of_memory: {death} and the kernel counted {kills} for want of memory "
        f"{shortage.where}; {used}"
    )


def _size(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


def _closed(
    ended: JobEnded,
    after: AfterTry,
    try_state: TryState,
    reason: str | None,
    outcome: Outcome | None = None,
    code: Code | None = None,
) -> Ending:
    return Ending(
        state=after.state,
        try_state=try_state if after.again or after.state is TaskState.SKIPPED else TryState.FAILED,
        reason=reason,
        delay=after.delay,
        again=after.again,
        exit_code=_exit_code(ended, outcome),
        signal=ended.signal,
        peak_rss=ended.peak_rss,
        cpu_time=ended.cpu_time,
        code_hash=outcome.code_hash if outcome else None,
        code=code,
    )


def _exit_code(ended: JobEnded, outcome: Outcome | None) -> int | None:
    """Of what the task said it ended with, else of its process."""
    if outcome is not None and outcome.exit_code is not None:
        return outcome.exit_code
    return ended.exit_code
