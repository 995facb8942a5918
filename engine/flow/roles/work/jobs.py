"""The jobs of a worker: what has a process here, from its order to the death of the process."""

from __future__ import annotations

import logging
import math
import time
from typing import assert_never

from flow.decide import lost, orphaned_callback
from flow.errors import ProtocolError
from flow.process.ending import (
    CUT_SHORT,
    ZYGOTE_DIED,
    StopCause,
    ending,
    needs_callback,
    unstartable,
)
from flow.process.events import (
    ChildMessage,
    JobEnded,
    JobEvent,
    JobGone,
    JobStarted,
    ZygoteDied,
)
from flow.process.host import Host
from flow.process.messages import CodeFound, StillCounts
from flow.roles.work.held import HeldCallback, HeldTry, callback_job, standing, try_job
from flow.roles.work.limits import EXIT_PATIENCE
from flow.roles.work.outbox import Outbox
from flow.roles.work.settings import Settings
from flow.store.callbacks import ClaimedCallback
from flow.store.tries import Claimed

log = logging.getLogger(__name__)


class Jobs:
    """Needs no database: what there is to report goes to the outbox, and what children ask waits
    in `questions`. Times are seconds of CLOCK_MONOTONIC."""

    def __init__(self, settings: Settings, host: Host, outbox: Outbox) -> None:
        self.questions: list[ChildMessage] = []
        self._settings = settings
        self._host = host
        self._outbox = outbox
        self._held: dict[int, HeldTry | HeldCallback] = {}
        self._leaving: dict[int, float] = {}
        """Jobs that are over and whose processes may not be dead yet: when these are killed."""

    @property
    def used(self) -> int:
        """Slots in use: a process holds its own until it is dead, so there are never more."""
        return len(self._held) + len(self._leaving)

    @property
    def running(self) -> bool:
        """Whether any process of a try or callback is left."""
        return bool(self._held)

    @property
    def tries(self) -> dict[int, HeldTry]:
        """The tries that are held, by job."""
        return {job_id: held for job_id, held in self._held.items() if isinstance(held, HeldTry)}

    @property
    def callback_ids(self) -> set[int]:
        """The callbacks that are held."""
        return {
            held.callback.callback_id
            for held in self._held.values()
            if isinstance(held, HeldCallback)
        }

    def claimed(self, job_id: int) -> Claimed | ClaimedCallback | None:
        """What a job was claimed for; None: it is over."""
        held = self._held.get(job_id)
        if held is None:
            return None
        return held.task if isinstance(held, HeldTry) else held.callback

    def due_at(self) -> float:
        """When something here is due by itself."""
        due = [h.deadline for h in self._held.values() if isinstance(h, HeldTry) and h.deadline]
        return min([*due, *self._leaving.values()], default=math.inf)

    # ── processes begin ──────────────────────────────────────────────────────────────────────────

    def start(self, task: Claimed) -> None:
        """Give a claimed task a process. Whatever comes of it, its claim is held or reported."""
        job = try_job(task, self._settings)
        held = HeldTry(task, job.log)
        try:
            self._held[self._host.start(job)] = held
        except (ProtocolError, OSError) as error:
            if isinstance(error, ProtocolError):  # its run's conf is larger than a message may be
                found = unstartable(task, error.message)
            else:
                found = lost(task, f"the worker could not start it: {error}")
            self._outbox.ended(held, found, orphaned_callback(found.state))

    def start_callback(self, callback: ClaimedCallback) -> None:
        """Give a callback a process; the next heartbeat frees one that could not get it."""
        job = callback_job(callback, self._settings)
        try:
            self._held[self._host.start(job)] = HeldCallback(callback, job.log)
        except ProtocolError as error:
            log.error("callback %d cannot run: %s", callback.callback_id, error.message)
            self._outbox.callback_over(callback.callback_id)
        except OSError as error:
            log.warning("callback %d could not be started: %s", callback.callback_id, error)

    # ── what the zygote and the children say ─────────────────────────────────────────────────────

    def hear(self, event: JobEvent) -> None:
        """Take note of it."""
        match event:
            case JobStarted(job_id, pid):
                held = self._held.get(job_id)
                if isinstance(held, HeldTry):
                    held.started(pid, time.monotonic(), self._settings.code_wait)
            case ChildMessage(job_id, CodeFound()):
                held = self._held.get(job_id)
                if isinstance(held, HeldTry):
                    held.found_code(time.monotonic())
            case ChildMessage(job_id, StillCounts(failed=failed)):
                self._host.reply(job_id, standing(self._held.get(job_id), failed=failed))
            case ChildMessage():
                self.questions.append(event)
            case JobEnded():
                self._end(event)
            case JobGone(job_id):
                del self._leaving[job_id]
            case ZygoteDied(job_ids):
                log.error("the zygote died (%s); starting another", event.how)
                for job_id in job_ids:
                    self._lose(job_id)
                self._host.restart()
            case _:
                assert_never(event)

    def _end(self, ended: JobEnded) -> None:
        held = self._held.pop(ended.job_id)
        if ended.leaving:
            self._leaving[ended.job_id] = time.monotonic() + EXIT_PATIENCE
        if isinstance(held, HeldCallback):
            # One that was cut short is another worker's from the next heartbeat on, or our end.
            if ended.killed not in CUT_SHORT:
                self._outbox.callback_over(held.callback.callback_id)
            return
        found = ending(held.task, ended, held.cause, held.stop_reason)
        if found is not None:
            self._outbox.ended(held, found, needs_callback(found.state, ended))
        else:
            self._outbox.dead(held.task.key)

    def _lose(self, job_id: int) -> None:
        held = self._held.pop(job_id)
        if isinstance(held, HeldCallback):
            return
        if held.cause is StopCause.STALE:
            self._outbox.dead(held.task.key)
            return
        found = lost(held.task, ZYGOTE_DIED)
        self._outbox.ended(held, found, orphaned_callback(found.state))

    # ── processes end ────────────────────────────────────────────────────────────────────────────

    def enforce(self) -> None:
        """End tries that have run longer than they may, and what does not leave as it said."""
        now = time.monotonic()
        for job_id, deadline in self._leaving.items():
            if deadline <= now:
                self._leaving[job_id] = math.inf
                self._host.stop(job_id, 0.0)
        for job_id, held in self._held.items():
            if isinstance(held, HeldTry) and held.deadline is not None and held.deadline <= now:
                held.deadline = None
                self.stop(job_id, held, StopCause.TIMEOUT, self._settings.kill_grace)

    def stop_all(self, cause: StopCause, grace: float) -> None:
        """End everything that runs; what is told to stop dies at the latest after `grace` s."""
        for job_id, held in self._held.items():
            if isinstance(held, HeldTry):
                self.stop(job_id, held, cause, grace)
            else:
                self._host.stop(job_id, grace)

    def stop(self, job_id: int, held: HeldTry, cause: StopCause, grace: float) -> None:
        """End one try, for the first cause that there was."""
        held.cause = held.cause or cause
        self._host.stop(job_id, grace)
