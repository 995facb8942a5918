"""What to report when a task's process has ended: pure."""

from __future__ import annotations

import signal
from enum import Enum
from typing import assert_never

from flow.decide import AfterTry, after_failure, after_loss
from flow.process.events import JobEnded
from flow.process.messages import Outcome
from flow.states import TaskState, TryState
from flow.store.tries import Claimed, Report


class StopCause(Enum):
    """Why a worker itself ended a process."""

    TIMEOUT = "execution_timeout"
    STALE = "stale"
    """The claim no longer counts: marked, cleared or taken for lost."""
    DRAIN = "drain"


def report(task: Claimed, ended: JobEnded, cause: StopCause | None) -> Report | None:
    """The report for a try whose whole process tree is dead; None: nobody is to hear of it."""
    outcome = ended.result if isinstance(ended.result, Outcome) else None
    if cause is StopCause.STALE:
        return None
    if outcome is not None and not (cause is StopCause.TIMEOUT and outcome.state != "success"):
        return _reported(task, ended, outcome)
    match cause:
        case StopCause.DRAIN:
            return _closed(task, ended, after_loss(task), TryState.DRAINED, "worker drained")
        case StopCause.TIMEOUT:
            reason = f"execution_timeout: still running after {task.execution_timeout:g} s"
            return _closed(task, ended, after_failure(task), TryState.FAILED, reason)
        case None:
            return _died(task, ended)
        case _:
            assert_never(cause)


def lost(task: Claimed, reason: str) -> Report:
    """The report for a try that went down with its zygote or was never started."""
    after = after_loss(task)
    return Report(
        claim=task.key,
        state=after.state,
        try_state=TryState.LOST if after.again else TryState.FAILED,
        reason=reason if after.again else f"worker_lost: {reason}",
        delay=after.delay,
        again=after.again,
    )


def unstartable(task: Claimed, reason: str) -> Report:
    """The report for a try that can have no process, on any worker: it has failed."""
    after = after_failure(task)
    return Report(task.key, after.state, TryState.FAILED, reason, delay=after.delay)


def needs_callback(report: Report, ended: JobEnded | None) -> str | None:
    """The kind of callback to run in a process of its own, since the try's own died before it."""
    if ended is not None and isinstance(ended.result, Outcome):
        return None
    return {TaskState.FAILED: "failure", TaskState.UP_FOR_RETRY: "retry"}.get(report.state)


def _reported(task: Claimed, ended: JobEnded, outcome: Outcome) -> Report:
    """The process reported its end itself."""
    state = TaskState(outcome.state)
    if state is TaskState.FAILED:
        after = after_failure(task, may_retry=outcome.retry)
        return _closed(
            task, ended, after, TryState.FAILED, outcome.reason or "failed", outcome.code_hash
        )
    return Report(
        claim=task.key,
        state=state,
        try_state=TryState(outcome.state),
        reason=outcome.reason,
        exit_code=ended.exit_code,
        signal=ended.signal,
        peak_rss=ended.peak_rss,
        cpu_time=ended.cpu_time,
        code_hash=outcome.code_hash,
        skips=outcome.skips,
        value=outcome.value,
    )


def _died(task: Claimed, ended: JobEnded) -> Report:
    """The process died without a word: by itself, or ended by its zygote."""
    if ended.killed == "lease":
        reason = "lease_expired: the worker could not prove in time that it still held the task"
        return _closed(task, ended, after_loss(task), TryState.LEASE_EXPIRED, reason)
    if ended.killed == "zygote":
        return lost(task, "the worker's zygote died")
    return _closed(task, ended, after_failure(task), TryState.FAILED, _death(ended))


def _death(ended: JobEnded) -> str:
    if ended.error is not None:
        return ended.error
    if ended.signal is not None:
        try:
            name = signal.Signals(ended.signal).name
        except ValueError:
            name = f"signal {ended.signal}"
        return f"the process was killed by {name}"
    return f"the process ended with exit code {ended.exit_code} and reported no result"


def _closed(
    task: Claimed,
    ended: JobEnded,
    after: AfterTry,
    try_state: TryState,
    reason: str,
    code_hash: str | None = None,
) -> Report:
    return Report(
        claim=task.key,
        state=after.state,
        try_state=try_state if after.again else TryState.FAILED,
        reason=reason,
        delay=after.delay,
        again=after.again,
        exit_code=ended.exit_code,
        signal=ended.signal,
        peak_rss=ended.peak_rss,
        cpu_time=ended.cpu_time,
        code_hash=code_hash,
    )
