"""What a worker holds: tries and callbacks, from their claim to their report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flow.logs.files import callback_log_path, log_path
from flow.process.ending import StopCause
from flow.process.jobs import CallbackJob, LastTask, RunInfo, TaskJob
from flow.process.messages import Done, Refused, ToChild
from flow.process.pin import Pin, on_this_host
from flow.process.root import root_of
from flow.roles.work.settings import Settings
from flow.store.callbacks import ClaimedCallback
from flow.store.tries import Claimed, Orders


@dataclass(slots=True)
class HeldTry:
    """A try with a process, or on the way to one."""

    task: Claimed
    log: str
    pid: int | None = None
    deadline: float | None = None
    """When its execution timeout ends, in seconds of CLOCK_MONOTONIC."""
    cause: StopCause | None = None
    """Why this worker is ending it, if it is."""
    stop_reason: str | None = None
    """Why its run ends it."""
    noted: bool = False
    """Whether its process id and log are in the store."""

    def started(self, pid: int, now: float, code_wait: float) -> None:
        """It has a process, whose wait for pinned code is no part of its execution."""
        self.pid = pid
        if self.task.execution_timeout is not None:
            pinned = self.task.code_hash is not None
            self.deadline = now + self.task.execution_timeout + (code_wait if pinned else 0.0)

    def found_code(self, now: float) -> None:
        """Its process says that it goes on: what is left of the wait is not used."""
        if self.deadline is not None and self.task.execution_timeout is not None:
            self.deadline = min(self.deadline, now + self.task.execution_timeout)

    def told(self, orders: Orders | None) -> StopCause | None:
        """Why it is to be ended, by what the store says of its claim; None: it goes on.

        Without orders the claim does not count any more.
        """
        if orders is None:
            return StopCause.STALE
        if orders.cleared:
            return StopCause.CLEARED
        self.stop_reason = orders.stop_reason
        return None if orders.stop_reason is None else StopCause.STOPPED


@dataclass(slots=True)
class HeldCallback:
    """A callback with a process of its own."""

    callback: ClaimedCallback
    log: str


_FOR_ITS_RUN: Final = (StopCause.STALE, StopCause.CLEARED, StopCause.STOPPED)
"""Causes after which nobody is to hear of how a try would have ended."""


def standing(held: HeldTry | HeldCallback | None, *, failed: bool) -> ToChild:
    """Answer a process that asks whether its try still counts, which has `failed` or has not."""
    if isinstance(held, HeldTry) and (
        held.cause in _FOR_ITS_RUN or (failed and held.cause is StopCause.DRAIN)
    ):
        return Refused(error=f"the try was told to stop ({held.cause.value})")
    return Done()


def try_job(task: Claimed, settings: Settings) -> TaskJob:
    """The job of a claimed task."""
    log = log_path(
        settings.logs, task.dag_id, task.run_id, task.task_id, task.map_path, task.try_number
    )
    root = root_of(task.file, settings.folders)
    return TaskJob(
        run=_run_info(task),
        task_id=task.task_id,
        map_path=task.map_path,
        try_number=task.try_number,
        max_tries=task.max_tries,
        file=task.file,
        root=root,
        timezone=settings.timezone,
        log=str(log),
        xcom_limit=settings.xcom_limit,
        pin=_pin(task, root, settings.code_wait),
    )


def _pin(task: Claimed, root: str, wait: float) -> Pin | None:
    if task.code_hash is None:
        return None
    modules = on_this_host(task.modules or {}, root or str(Path(task.file).parent))
    return Pin(code_hash=task.code_hash, modules=modules, wait=wait)


def callback_job(callback: ClaimedCallback, settings: Settings) -> CallbackJob:
    """The job of a claimed callback."""
    log = callback_log_path(settings.logs, callback.dag_id, callback.run_id, callback.callback_id)
    return CallbackJob(
        run=_run_info(callback),
        task_id=callback.task_id,
        map_path=callback.map_path,
        try_number=callback.try_number,
        max_tries=callback.max_tries,
        last=LastTask(**callback.last._asdict()) if callback.last else None,
        file=callback.file,
        root=root_of(callback.file, settings.folders),
        timezone=settings.timezone,
        kind=callback.kind,
        reason=callback.reason,
        log=str(log),
    )


def _run_info(claimed: Claimed | ClaimedCallback) -> RunInfo:
    return RunInfo(
        dag_id=claimed.dag_id,
        run_id=claimed.run_id,
        run_type=claimed.run_type,
        logical_date=claimed.logical_date,
        data_interval_start=claimed.data_interval_start,
        data_interval_end=claimed.data_interval_end,
        run_after=claimed.run_after,
        started_at=claimed.started_at,
        conf=claimed.conf,
        version=claimed.version,
    )
