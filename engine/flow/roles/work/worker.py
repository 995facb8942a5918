"""One worker: what it holds, and each thing it does with the store and its zygote.

It has one connection for all it writes and lives in one thread. While the database is away the
tries go on: their results wait here, their questions wait for an answer, and the lease that only a
committed heartbeat renews says how long.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import time

from flow.decide import lost, orphaned_callback
from flow.embedded import Server
from flow.errors import ProtocolError
from flow.process import alarm
from flow.process.cgroup import WorkerGroup
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
    Event,
    JobEnded,
    JobGone,
    JobStarted,
    ZygoteDied,
    ZygoteReady,
)
from flow.process.host import Host
from flow.process.messages import CodeFound, StillCounts
from flow.roles.losses import free, release_callbacks
from flow.roles.work import kept, marker
from flow.roles.work.held import (
    HeldCallback,
    HeldTry,
    callback_job,
    note_processes,
    standing,
    try_job,
)
from flow.roles.work.limits import AT_ONCE, CALLBACK_PAUSE, EXIT_PATIENCE, memory_allows
from flow.roles.work.outbox import Outbox
from flow.roles.work.requests import answer
from flow.roles.work.settings import Settings
from flow.roles.work.slots import Slots
from flow.roles.work.succession import succeed
from flow.store import callbacks, processes, stopping, tries, wakeups
from flow.store.callbacks import ClaimedCallback
from flow.store.connect import Conn, transaction
from flow.store.notify import WAKE, Notifier
from flow.store.tries import Claim, Claimed

log = logging.getLogger(__name__)


class Worker:
    """State of one `flow work` process. Times are seconds of CLOCK_MONOTONIC unless said."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.hostname = socket.gethostname()
        self.process_id: int | None = None
        self.marker = marker.Marker(settings.home)
        # An embedded server that was started again by this process has moved up to it.
        server = Server(settings.home)
        user = settings.task_user
        self._group = WorkerGroup.enter(self.marker.text, user.uid if user else None)
        if self._group is not None:
            log.info("each try has a control group of its own below %s", self._group.path)
        self.host = Host(
            self.marker.text,
            spare=settings.spare,
            user=user,
            keep=lambda: server.pids,
            group=self._group,
        )
        self._slots = Slots(settings.slots, settings.most, settings.min_free_memory)
        self.notifier = Notifier()
        self.draining = False
        self.backlog = True
        """Whether more is queued than was taken, as far as one knows."""
        self._held: dict[int, HeldTry | HeldCallback] = {}
        self._leaving: dict[int, float] = {}
        """Jobs that are over and whose processes may not be dead yet: when these are killed."""
        self._outbox = Outbox(self.notifier)
        self._questions: list[ChildMessage] = []
        self._beat_at = 0.0
        self._callbacks_at = 0.0

    def close(self) -> None:
        """End everything that runs; the last thing of all."""
        self.host.close()
        if self._group is not None:
            self._group.leave()

    # ── what happens without the database ────────────────────────────────────────────────────────

    def listen(self) -> None:
        """Take note of what the zygote and the children say."""
        for event in self.host.events():
            self._hear(event)

    def _hear(self, event: Event) -> None:
        match event:
            case JobStarted(job_id, pid):
                held = self._held.get(job_id)
                if isinstance(held, HeldTry):
                    held.started(pid, time.monotonic(), self.settings.code_wait)
            case ChildMessage(job_id, CodeFound()):
                held = self._held.get(job_id)
                if isinstance(held, HeldTry):
                    held.found_code(time.monotonic())
            case ChildMessage(job_id, StillCounts(failed=failed)):
                self.host.reply(job_id, standing(self._held.get(job_id), failed=failed))
            case ChildMessage():
                self._questions.append(event)
            case JobEnded():
                self._end(event)
            case JobGone(job_id):
                del self._leaving[job_id]
            case ZygoteDied(job_ids):
                log.error("the zygote died (%s); starting another", event.how)
                for job_id in job_ids:
                    self._lose(job_id)
                self.host.restart()
            case ZygoteReady():
                log.info("ready: %s", self._slots)

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

    def enforce(self) -> None:
        """End tries that have run longer than they may, and what does not leave as it said."""
        now = time.monotonic()
        for job_id, deadline in self._leaving.items():
            if deadline <= now:
                self._leaving[job_id] = math.inf
                self.host.stop(job_id, 0.0)
        for job_id, held in self._held.items():
            if isinstance(held, HeldTry) and held.deadline is not None and held.deadline <= now:
                held.deadline = None
                self._stop(job_id, held, StopCause.TIMEOUT)

    def stop_all(self, grace: float) -> None:
        """End everything that runs, because this worker ends."""
        for job_id, held in self._held.items():
            if isinstance(held, HeldTry):
                self._stop(job_id, held, StopCause.DRAIN, grace)
            else:
                self.host.stop(job_id, grace)

    def _stop(
        self, job_id: int, held: HeldTry, cause: StopCause, grace: float | None = None
    ) -> None:
        held.cause = held.cause or cause
        self.host.stop(job_id, self.settings.kill_grace if grace is None else grace)

    def wait_for(self) -> float:
        """Seconds until something here is due by itself."""
        due = [self._beat_at, *self._leaving.values()]
        due += [h.deadline for h in self._held.values() if isinstance(h, HeldTry) and h.deadline]
        return max(0.0, min(due) - time.monotonic())

    @property
    def has_room(self) -> bool:
        """Whether a slot is free and something may be taken."""
        return not self.draining and self._used < self._slots.now

    @property
    def _used(self) -> int:
        """A process holds its slot until it is dead, so that there are never more than slots."""
        return len(self._held) + len(self._leaving)

    def look_for_stale(self) -> None:
        """Beat now: somebody says that a claim no longer counts."""
        self._beat_at = 0.0

    @property
    def running(self) -> bool:
        """Whether any process of a try or callback is left."""
        return bool(self._held)

    def describe(self) -> str:
        """What it does, in one line with figures."""
        word = "draining" if self.draining else "working"
        owed = len(self._outbox.claims)
        return f"{word}: {self._used} of {self._slots} in use, {owed} results to report"

    @property
    def idle(self) -> bool:
        """Whether it holds nothing and owes no report."""
        return not self._held and self._outbox.empty

    def keep_results(self) -> None:
        """There is no database: keep on disk what it is to be told."""
        self._outbox.keep()

    @property
    def results_safe(self) -> bool:
        """Whether a successor here would find all results that the database lacks."""
        return self._outbox.safe

    # ── what it does with the database ───────────────────────────────────────────────────────────

    def tend(self, conn: Conn) -> None:
        """Everything that the store has to know or tell, in the order of urgency."""
        if time.monotonic() >= self._beat_at:
            self.beat(conn)
        self._answer(conn)
        self._outbox.send(conn, self.process_id)
        self._claim(conn)
        self.notifier.pay(conn)

    def register(self, conn: Conn) -> None:
        """Take a row of our own, after ending what dead predecessors on this host left."""
        succeed(conn, self.settings.home, self.hostname, self._group)
        # The lock is there before others can see the row: else they would take us for dead.
        with transaction(conn, "work.register"):
            self.process_id = processes.register(
                conn,
                role="work",
                host=self.hostname,
                pid=os.getpid(),
                version=self.settings.version,
                lost_after=self.settings.lost_after,
                executor=self.settings.executor,
                queues=self.settings.queues,
                slots=self._slots.now,
            )
            wakeups.wake_named(conn, [("queue", queue) for queue in self.settings.queues])
            self.marker.take(self.process_id)
        path = kept.path_of(self.settings.home, self.process_id)
        self._outbox.use(kept.Kept(path, self.settings.results_limit))
        self.notifier.send(conn, WAKE)

    def beat(self, conn: Conn) -> None:
        """Heartbeat, lease, and the claims that no longer count: one round for all tries."""
        sent = alarm.now()
        self._beat_at = time.monotonic() + self.settings.heartbeat
        if self.process_id is None:
            self.register(conn)
        holding = self._tries()
        self._slots.adapt(self._used, wanting=self.backlog)
        with transaction(conn, "work.heartbeat", durable=False):
            assert self.process_id is not None  # registered above
            alive = processes.heartbeat(conn, self.process_id, self._slots.now)
            counting = tries.held(conn, self.process_id)
            stopped = stopping.of_worker(conn, self.process_id)
            taken = callbacks.held(conn, self.process_id)
        if not alive:
            self._on_lost()
            return
        if self.settings.lease is not None:
            self.host.renew(sent + self.settings.lease)
        for job_id, held in holding.items():
            cause = held.told(counting.get(held.task.key))
            if cause is not None:
                self._stop(job_id, held, cause)
        self._let_go(conn, counting.keys() | stopped, taken)
        note_processes(conn, [held for held in holding.values() if not held.noted])

    def _let_go(self, conn: Conn, claims: set[Claim], callback_ids: set[int]) -> None:
        """Free what the store says we hold and we do not: the answer to a claim was lost."""
        held = {one.task.key for one in self._tries().values()} | self._outbox.claims
        running = {
            h.callback.callback_id for h in self._held.values() if isinstance(h, HeldCallback)
        } | self._outbox.callback_ids
        if claims <= held and callback_ids <= running:
            return
        assert self.process_id is not None  # it has just beaten
        with transaction(conn, "work.release"):
            freed = free(conn, self.process_id, self._unheard, held=held, held_callbacks=running)
        if freed:
            log.warning("freed %d tries that were claimed and never started", freed)
        self.notifier.send(conn, WAKE)

    @property
    def _unheard(self) -> str:
        """Why a try is freed that has never had a process here."""
        return f"worker {self.process_id} did not learn that it had claimed it"

    def _on_lost(self) -> None:
        """We were taken for lost: nothing we hold counts any more, and another may have it."""
        log.error("worker %s was declared lost; ending all its tries", self.process_id)
        for job_id, held in self._held.items():
            if isinstance(held, HeldTry):
                self._stop(job_id, held, StopCause.STALE, 0.0)
            else:
                self.host.stop(job_id, 0.0)
        self._outbox.clear()
        self.process_id = None
        self._beat_at = time.monotonic()

    def _answer(self, conn: Conn) -> None:
        """Answer what the children asked."""
        while self._questions:
            question = self._questions[0]
            held = self._held.get(question.job_id)
            if held is not None:
                task = held.task if isinstance(held, HeldTry) else held.callback
                reply = answer(conn, task, question.message, self.settings.key_file)
                self.host.reply(question.job_id, reply)
            del self._questions[0]

    def _claim(self, conn: Conn) -> None:
        """Take what is queued, as far as slots and memory allow."""
        if self.process_id is None or not self.has_room or not self.backlog:
            return
        if not memory_allows(self.settings.min_free_memory):
            return
        who = {
            "worker": self.process_id,
            "executor": self.settings.executor,
            "queues": self.settings.queues,
        }
        pins = self.settings.pins
        limit = min(self._slots.now - self._used, AT_ONCE)
        now = time.monotonic()
        waiting = []
        with transaction(conn, "work.claim"):
            taken = tries.claim(conn, host=self.hostname, limit=limit, pins=pins, **who)  # type: ignore[arg-type]
            if not taken or now >= self._callbacks_at:
                self._callbacks_at = now + CALLBACK_PAUSE
                waiting = callbacks.claim(conn, limit=limit, **who)  # type: ignore[arg-type]
        self.backlog = len(taken) == limit or len(waiting) == limit
        for task in taken:
            self._start(task)
        for callback in waiting:
            self._start_callback(callback)

    def _start(self, task: Claimed) -> None:
        """Give a claimed task a process. Whatever comes of it, its claim is held or reported."""
        job = try_job(task, self.settings)
        held = HeldTry(task, job.log)
        try:
            self._held[self.host.start(job)] = held
        except (ProtocolError, OSError) as error:
            if isinstance(error, ProtocolError):  # its run's conf is larger than a message may be
                found = unstartable(task, error.message)
            else:
                found = lost(task, f"the worker could not start it: {error}")
            self._outbox.ended(held, found, orphaned_callback(found.state))

    def _start_callback(self, callback: ClaimedCallback) -> None:
        """Give a callback a process; the next heartbeat frees one that could not get it."""
        job = callback_job(callback, self.settings)
        try:
            self._held[self.host.start(job)] = HeldCallback(callback, job.log)
        except ProtocolError as error:
            log.error("callback %d cannot run: %s", callback.callback_id, error.message)
            self._outbox.callback_over(callback.callback_id)
        except OSError as error:
            log.warning("callback %d could not be started: %s", callback.callback_id, error)

    def retire(self, conn: Conn) -> None:
        """Close our row; the last thing a worker does, when it holds nothing that it knows of."""
        if self.process_id is not None:
            with transaction(conn, "work.retire"):
                release_callbacks(conn, self.process_id, f"worker {self.process_id} drained")
                processes.end(conn, self.process_id, "stopped")
                free(conn, self.process_id, self._unheard)
            self.marker.drop()

    def start_drain(self, conn: Conn) -> None:
        """Take nothing new, and say so: what is queued for us alone goes back."""
        self.draining = True
        if self.process_id is not None:
            with transaction(conn, "work.drain"):
                processes.drain(conn, self.process_id)

    def _tries(self) -> dict[int, HeldTry]:
        return {job_id: held for job_id, held in self._held.items() if isinstance(held, HeldTry)}
