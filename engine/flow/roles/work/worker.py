"""One worker: each thing it does with the store, for the jobs that it has.

It has one connection for all it writes and lives in one thread. While the database is away the
tries go on: their results wait here, their questions wait for an answer, and the lease that only a
committed heartbeat renews says how long.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Sequence
from functools import partial

from flow.embedded import Server
from flow.process import alarm
from flow.process.cgroup import WorkerGroup
from flow.process.ending import StopCause
from flow.process.events import ZygoteReady
from flow.process.host import Host
from flow.process.standstill import Standstill
from flow.roles.losses import free, release_callbacks
from flow.roles.work import kept, marker
from flow.roles.work.held import HeldTry
from flow.roles.work.jobs import Jobs
from flow.roles.work.limits import AT_ONCE, CALLBACK_PAUSE, ZYGOTE_CONTINUED, memory_allows
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
        self._standstill = Standstill(self.host, continued=ZYGOTE_CONTINUED)
        self.notifier = Notifier()
        self.draining = False
        self.backlog = True
        """Whether more is queued than was taken, as far as one knows."""
        self._outbox = Outbox(self.notifier)
        self._slots = Slots(settings.slots, settings.most, settings.min_free_memory)
        self._jobs = Jobs(settings, self.host, self._outbox)
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
            if isinstance(event, ZygoteReady):
                log.info("ready: %s", self._slots)
            else:
                self._jobs.hear(event)

    def enforce(self) -> None:
        """End tries that have run longer than they may, and what does not leave as it said.

        That takes a zygote which is not stopped.
        """
        self._standstill.look()
        self._jobs.enforce()

    def stop_all(self, grace: float) -> None:
        """End everything that runs, because this worker ends."""
        self._jobs.stop_all(StopCause.DRAIN, grace)

    def wait_for(self) -> float:
        """Seconds until something here is due by itself."""
        return max(0.0, min(self._beat_at, self._jobs.due_at()) - time.monotonic())

    @property
    def has_room(self) -> bool:
        """Whether a slot is free and something may be taken."""
        return not self.draining and self._jobs.used < self._slots.now

    def look_for_stale(self) -> None:
        """Beat now: somebody says that a claim no longer counts."""
        self._beat_at = 0.0

    @property
    def running(self) -> bool:
        """Whether any process of a try or callback is left."""
        return self._jobs.running

    def describe(self) -> str:
        """What it does, in one line with figures."""
        word = "draining" if self.draining else "working"
        used, owed = self._jobs.used, len(self._outbox.claims)
        return f"{word}: {used} of {self._slots} in use, {owed} results to report"

    @property
    def idle(self) -> bool:
        """Whether it holds nothing and owes no report."""
        return not self.running and self._outbox.empty

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
        holding = self._jobs.tries
        self._slots.adapt(self._jobs.used, wanting=self.backlog)
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
                self._jobs.stop(job_id, held, cause, self.settings.kill_grace)
        self._let_go(conn, counting.keys() | stopped, taken)
        _note_processes(conn, [held for held in holding.values() if not held.noted])

    def _let_go(self, conn: Conn, claims: set[Claim], callback_ids: set[int]) -> None:
        """Free what the store says we hold and we do not: the answer to a claim was lost."""
        held = {one.task.key for one in self._jobs.tries.values()} | self._outbox.claims
        running = self._jobs.callback_ids | self._outbox.callback_ids
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
        self._jobs.stop_all(StopCause.STALE, 0.0)
        self._outbox.clear()
        self.process_id = None
        self._beat_at = time.monotonic()

    def _answer(self, conn: Conn) -> None:
        """Answer what the children asked."""
        questions = self._jobs.questions
        while questions:
            question = questions[0]
            claimed = self._jobs.claimed(question.job_id)
            if claimed is not None:
                reply = answer(conn, claimed, question.message, self.settings.key_file)
                self.host.reply(question.job_id, reply)
            del questions[0]

    def _claim(self, conn: Conn) -> None:
        """Take what is queued, as far as slots and memory allow."""
        if self.process_id is None or not self.has_room or not self.backlog:
            return
        if not memory_allows(self.settings.min_free_memory):
            return
        limit = min(self._slots.now - self._jobs.used, AT_ONCE)
        with transaction(conn, "work.claim"):
            taken, waiting = self._take(conn, self.process_id, limit)
        self.backlog = len(taken) + len(waiting) == limit
        for task in taken:
            self._jobs.start(task)
        for callback in waiting:
            self._jobs.start_callback(callback)

    def _take(
        self, conn: Conn, worker: int, limit: int
    ) -> tuple[Sequence[Claimed], Sequence[ClaimedCallback]]:
        """Claim tasks and callbacks, together no more than `limit`.

        Callbacks come first now and then, else tasks that keep coming would leave them no slot, and
        where there are no tasks.
        """
        settings = self.settings
        claim_callbacks = partial(
            callbacks.claim,
            conn,
            worker=worker,
            executor=settings.executor,
            queues=settings.queues,
            limit=limit,
        )
        now = time.monotonic()
        first = now >= self._callbacks_at
        waiting: Sequence[ClaimedCallback] = claim_callbacks() if first else ()
        taken: Sequence[Claimed] = ()
        if left := limit - len(waiting):
            taken = tries.claim(
                conn,
                worker=worker,
                host=self.hostname,
                executor=settings.executor,
                queues=settings.queues,
                limit=left,
                pins=settings.pins,
            )
        if not taken and not first:
            waiting = claim_callbacks()
        if first or not taken:
            self._callbacks_at = now + CALLBACK_PAUSE
        return taken, waiting

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


def _note_processes(conn: Conn, held: Sequence[HeldTry]) -> None:
    """Write process id and log of tries that have been running for a heartbeat."""
    running = [(one.task.key, one.pid, one.log) for one in held if one.pid is not None]
    if running:
        with transaction(conn, "work.note"):
            tries.started(conn, running)
        for one in held:
            one.noted = one.pid is not None
