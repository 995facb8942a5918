"""The worker's loop: wait for the zygote, a child, a notification, a due time or a signal."""

from __future__ import annotations

import logging
import math
import selectors
import time
from dataclasses import dataclass, field

from flow.roles.hearing import Hearing
from flow.roles.loop import POLL, Backoff, Stop, awaiting, log_failure, patience, wait
from flow.roles.service_manager import NOBODY, ServiceManager
from flow.roles.work import log_folder
from flow.roles.work.kept import require_writable
from flow.roles.work.settings import Settings
from flow.roles.work.worker import Worker
from flow.store import migrate
from flow.store.connect import COLLISIONS, OUTAGES, TOO_LONG, Conn, connect
from flow.store.notify import QUEUED, STOP

__all__ = ["Settings", "serve"]

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Line:
    """The connection and what is heard, or the time of the next attempt."""

    settings: Settings
    selector: selectors.BaseSelector
    conn: Conn | None = None
    hearing: Hearing = field(init=False)
    next_try: float = 0.0
    backoff: Backoff = field(default_factory=Backoff)

    def __post_init__(self) -> None:
        self.hearing = Hearing(self.settings.listen_dsn, (QUEUED, STOP), self.selector)

    def open(self) -> Conn | None:
        """The connection; a new one when there is none; None until it is time to try again."""
        if time.monotonic() < self.next_try:
            return None
        if self.conn is None:
            settings = self.settings
            try:
                self.conn = connect(
                    settings.dsn, name="work", patience=patience(settings.lost_after)
                )
                migrate.require(self.conn)
            except OUTAGES as error:
                self.fail(error)
        return self.conn

    def fail(self, error: Exception) -> None:
        """Note when to try again, over another connection unless this one still works."""
        log_failure("work", error)
        if not isinstance(error, (*COLLISIONS, *TOO_LONG)):
            self.close()
        self.next_try = time.monotonic() + self.backoff.pause()

    def close(self) -> None:
        """Close everything; closing twice is legal."""
        self.hearing.close()
        if self.conn is not None:
            self.conn.close()
            self.conn = None


@dataclass(slots=True)
class _Drain:
    """How a worker ends that is told to: with time for its tries, or at once."""

    asked: int = 0
    until: float = math.inf
    """When what still runs is ended."""
    over: bool = False
    """That moment has come: nobody waits for the database any more."""

    def follow(self, worker: Worker, stop: Stop, manager: ServiceManager) -> None:
        """Do what the requests until now, and the time, ask for."""
        settings = worker.settings
        if stop.count > self.asked:
            self.asked = stop.count
            left = settings.drain_timeout if self.asked == 1 else 0.0
            self.until = math.inf if left is None else time.monotonic() + left
            log.info("draining" if self.asked == 1 else "stopping at once")
            manager.stopping()
        if time.monotonic() >= self.until:
            worker.stop_all(settings.kill_grace if self.asked == 1 else 0.0)
            self.until, self.over = math.inf, True


def serve(
    settings: Settings, stop: Stop, *, once: bool = False, manager: ServiceManager = NOBODY
) -> None:
    """Run a worker until `stop`: the first one drains, the second ends at once.

    With `once` until it holds nothing and nothing is queued.
    """
    require_writable(settings.home)
    if settings.task_user is not None:
        log_folder.share(settings.logs, settings.task_user)
    worker = Worker(settings)
    with selectors.DefaultSelector() as selector:
        selector.register(worker.host, selectors.EVENT_READ)
        selector.register(stop, selectors.EVENT_READ)
        line = _Line(settings, selector)
        try:
            _loop(worker, line, stop, manager, once=once)
        finally:
            line.close()
            worker.close()


def _loop(worker: Worker, line: _Line, stop: Stop, manager: ServiceManager, *, once: bool) -> None:
    drain = _Drain()
    while True:
        drain.follow(worker, stop, manager)
        worker.listen()
        worker.enforce()
        conn = line.open()
        if conn is not None:
            try:
                _take_note(worker, line.hearing.keep())
                if stop and not worker.draining:
                    worker.start_drain(conn)
                worker.tend(conn)
                line.backoff.reset()
                manager.ready()
                if worker.idle and (stop or (once and not worker.backlog)):
                    worker.retire(conn)
                    return
            except OUTAGES as error:
                line.fail(error)
        if line.conn is None:
            worker.keep_results()
            if stop and (worker.idle or (drain.over and not worker.running)):
                _say_what_is_owed(worker)
                return
        manager.progress(worker.describe if line.conn is not None else awaiting)
        _wait(worker, line, stop, min(drain.until, time.monotonic() + manager.patience))


def _say_what_is_owed(worker: Worker) -> None:
    """The last words of a worker that ends without a database."""
    if worker.idle:
        return
    if worker.results_safe:
        log.warning("ending without a database: the next worker here reports what is kept")
    else:
        log.error("ending without a database: results are unreported, their tries run again")


def _wait(worker: Worker, line: _Line, stop: Stop, until: float) -> None:
    now = time.monotonic()
    if line.conn is None or now < line.next_try:
        seconds = min(POLL, line.next_try - now)
    elif worker.backlog and worker.has_room:
        seconds = 0.0
    else:
        seconds = min(POLL, worker.wait_for())
    ready = wait(line.selector, min(seconds, until - now))
    if not ready:
        worker.backlog = True  # nobody told us anything for a while: look
    for key in ready:
        if key.fileobj is stop:
            stop.drain()
        elif key.data is line.hearing:
            _take_note(worker, line.hearing.hear())


def _take_note(worker: Worker, channels: set[str]) -> None:
    if QUEUED in channels:
        worker.backlog = True
    if STOP in channels:
        worker.look_for_stale()
