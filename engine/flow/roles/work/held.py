"""What a worker holds: tries and callbacks, from their claim to their report."""

from __future__ import annotations

from dataclasses import dataclass

from flow.logs.files import callback_log_path, log_path
from flow.process.ending import StopCause
from flow.process.messages import CallbackJob, Done, Refused, RunInfo, TaskJob, ToChild
from flow.process.root import root_of
from flow.roles.work.settings import Settings
from flow.store.callbacks import ClaimedCallback
from flow.store.tries import Claimed


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
    noted: bool = False
    """Whether its process id and log are in the store."""


@dataclass(slots=True)
class HeldCallback:
    """A callback with a process of its own."""

    callback: ClaimedCallback
    log: str


def standing(held: HeldTry | HeldCallback | None) -> ToChild:
    """Answer a process that asks whether its try still counts."""
    if isinstance(held, HeldTry) and held.cause in (StopCause.STALE, StopCause.CLEARED):
        return Refused(error=f"the try was told to stop ({held.cause.value})")
    return Done()


def try_job(task: Claimed, settings: Settings) -> TaskJob:
    """The job of a claimed task."""
    log = log_path(
        settings.logs, task.dag_id, task.run_id, task.task_id, task.map_path, task.try_number
    )
    return TaskJob(
        run=_run_info(task),
        task_id=task.task_id,
        map_path=task.map_path,
        try_number=task.try_number,
        max_tries=task.max_tries,
        file=task.file,
        root=root_of(task.file, settings.folders),
        timezone=settings.timezone,
        log=str(log),
        xcom_limit=settings.xcom_limit,
    )


def callback_job(callback: ClaimedCallback, settings: Settings) -> CallbackJob:
    """The job of a claimed callback."""
    log = callback_log_path(settings.logs, callback.dag_id, callback.run_id, callback.callback_id)
    return CallbackJob(
        run=_run_info(callback),
        task_id=callback.task_id,
        map_path=callback.map_path,
        try_number=callback.try_number,
        max_tries=callback.max_tries,
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
