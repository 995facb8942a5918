"""The scheduler's loop."""

from __future__ import annotations

import gc
import logging
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from flow.decide import Shares
from flow.roles.hearing import Hearing
from flow.roles.loop import POLL, Backoff, Stop, keep_going, log_failure, patience, wait
from flow.roles.registration import Registration
from flow.roles.schedule.admission import admit_woken
from flow.roles.schedule.creation import create_due
from flow.roles.schedule.decisions import decide_woken
from flow.roles.schedule.graphs import Graphs
from flow.roles.schedule.rescue import Watch, rescue
from flow.roles.schedule.sweep import sweep
from flow.roles.schedule.write import Written
from flow.roles.service_manager import NOBODY, ServiceManager
from flow.store import migrate, upcoming
from flow.store.connect import COLLISIONS, TOO_LONG, Conn, connect
from flow.store.notify import WAKE, Notifier
from flow.store.upcoming import NOW, Upcoming
from flow.store.wakeups import BUSY_AGAIN

log = logging.getLogger(__name__)

GATHER: Final = 0.010
"""Seconds to let results gather after a full pass: under load one pass for many is far cheaper."""
FULL: Final = 8
"""Tasks in one pass from which on the load counts as high."""
YOUNG: Final = 50_000
"""New objects between two garbage collections. A batch makes about so many and drops them all at
its end; Python's own 700 cost a seventh of the scheduler's time in a midnight burst."""


EQUAL_SHARES: Final = Shares()

_Arrow = Callable[[Conn, Graphs, Shares, Notifier], Written]


def _nothing() -> None:
    """The database is somebody else's to start."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a scheduler has to know. Durations in seconds."""

    dsn: str
    listen_dsn: str
    version: str
    heartbeat: float = 5.0
    lost_after: float = 300.0
    poll: float = POLL
    sweep: float = 60.0
    """Between sweeps that repair what should not happen."""
    shares: Shares = EQUAL_SHARES
    starvation_after: float = 600.0
    """How long a ready task may wait before it goes before all others."""
    revive: Callable[[], None] = _nothing
    """Called before each connection: starts an embedded database that has died. Schedulers do it
    for all roles, because a worker has tries to look after while the database recovers."""


@dataclass(slots=True)
class Scheduler:
    """One scheduler: a connection, a cache of graphs, and what it has seen of the others."""

    settings: Settings
    conn: Conn
    graphs: Graphs = field(default_factory=Graphs)
    heads: Graphs = field(default_factory=lambda: Graphs(heads=True))
    notifier: Notifier = field(default_factory=Notifier)
    watch: Watch = field(init=False)
    behind: bool = False
    """The last pass left something that is due: there is nothing to wait for."""
    _sweep_at: float = 0.0
    _due: Upcoming = NOW
    """What the last look said, …"""
    _looked: float = 0.0
    """… and when that was, in seconds of CLOCK_MONOTONIC."""
    _lag: float = 0.0
    """Seconds for which something had been due at the last look."""
    _queued: int = 0
    """Tasks queued since the connection was opened."""

    def __post_init__(self) -> None:
        # Anew with each connection: what was seen before an outage does not count.
        self.watch = Watch(self.settings.heartbeat)

    def run_once(self, *, told: bool = True) -> int:
        """Do all that is due now, once; returns how much was done (0: nothing).

        Who was `told` of something decides without a look: a worker waits for what follows. Each
        arrow looks at its end when something is due next; the others run when the last look says
        so.
        """
        self.behind = False
        done = 0
        if told or self._expected().decide <= 0:
            done += self._run(decide_woken, self.graphs)
        elif min(self._expected()) > 0:
            self._note(upcoming.look(self.conn))
        self._lag = max(0.0, -min(self._expected()))
        if self._expected().admit <= 0:
            done += self._run(admit_woken, self.heads)
        if self._expected().create <= 0:
            done += self._run(create_due, self.heads)
        return done

    def _run(self, arrow: _Arrow, graphs: Graphs) -> int:
        """Run an arrow; how much it has done."""
        written = arrow(self.conn, graphs, self.settings.shares, self.notifier)
        self._note(written.due)
        self.behind = self.behind or written.more
        self._queued += written.queued
        return written.done + written.queued

    def _note(self, due: Upcoming) -> None:
        self._due, self._looked = due, time.monotonic()

    def _expected(self) -> Upcoming:
        """Seconds until something is due, as far as the last look knew."""
        passed = time.monotonic() - self._looked
        return Upcoming(*(seconds - passed for seconds in self._due))

    def describe(self) -> str:
        """What it does, in one line with figures."""
        return f"scheduling: {self._queued} tasks queued, {self._lag:.1f} s behind"

    def keep_house(self, registration: Registration) -> None:
        """Heartbeat, look for the lost, repair: each at its own pace."""
        now = time.monotonic()
        if registration.keep(self.conn) and rescue(self.conn, self.watch, now):
            self.notifier.send(self.conn, WAKE)
        if now >= self._sweep_at:
            self._sweep_at = now + self.settings.sweep
            if sweep(self.conn, self.settings.starvation_after):
                self._note(NOW)

    def idle_for(self, done: int) -> float:
        """Seconds to wait after a pass that has `done` so much, at most the poll interval.

        Where nothing was done although something looked due, another scheduler holds it.
        """
        if done > FULL and not self.behind:
            return GATHER
        soonest = 0.0 if done else BUSY_AGAIN
        return max(soonest, min(*self._expected(), self.settings.poll))


def serve(
    settings: Settings, stop: Stop, *, once: bool = False, manager: ServiceManager = NOBODY
) -> None:
    """Run a scheduler until `stop`; with `once` until nothing is due or ready."""
    # What is cached and the row of this process outlive an outage.
    graphs, heads = Graphs(), Graphs(heads=True)
    registration = Registration(
        "schedule",
        settings.version,
        heartbeat=settings.heartbeat,
        lost_after=settings.lost_after,
    )
    gc.set_threshold(YOUNG)

    def session() -> None:
        settings.revive()
        allowed = patience(settings.lost_after)
        with connect(settings.dsn, name="schedule", patience=allowed) as conn:
            migrate.require(conn)
            scheduler = Scheduler(settings, conn, graphs, heads)
            if once:
                while scheduler.run_once():
                    pass
                return
            with selectors.DefaultSelector() as selector:
                hearing = Hearing(settings.listen_dsn, (WAKE,), selector)
                try:
                    _loop(scheduler, registration, hearing, stop, selector, manager)
                finally:
                    hearing.close()

    keep_going("schedule", stop, session, manager)


def _loop(
    scheduler: Scheduler,
    registration: Registration,
    hearing: Hearing,
    stop: Stop,
    selector: selectors.BaseSelector,
    manager: ServiceManager,
) -> None:
    selector.register(stop, selectors.EVENT_READ)
    backoff = Backoff()
    told = True
    log.info("scheduling")
    while not stop:
        told = bool(hearing.keep()) or told
        try:
            scheduler.keep_house(registration)
            manager.ready()
            done = scheduler.run_once(told=told)
            owed = scheduler.notifier.pay(scheduler.conn)
            manager.progress(scheduler.describe)
            seconds = scheduler.idle_for(done)
            seconds = seconds if owed is None else min(seconds, owed)
            backoff.reset()
        except (*COLLISIONS, *TOO_LONG) as error:
            # The connection still works, and what was seen of others still counts.
            log_failure("schedule", error)
            seconds = backoff.pause()
        told = False
        for key in wait(selector, min(seconds, manager.patience)):
            if key.data is hearing:
                told = bool(hearing.hear()) or told
            else:
                stop.drain()
    manager.stopping()
    registration.end(scheduler.conn)
