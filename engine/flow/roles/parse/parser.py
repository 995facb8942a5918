"""The DAG processor's work: look at the folders, import what changed, store what it defines."""

from __future__ import annotations

import logging
import os
import random
import selectors
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg

from flow.process.environment import TaskUser
from flow.process.events import ChildMessage
from flow.process.messages import Parsed
from flow.process.verdict import Limits
from flow.roles.loop import wait
from flow.roles.parse import folders, plan, verdict
from flow.roles.parse.answers import Read, answer
from flow.roles.parse.fingerprints import Fingerprints
from flow.roles.parse.folders import Scan
from flow.roles.parse.imports import Imported, Imports
from flow.roles.parse.plan import Attempt, Sight
from flow.roles.parse.queue import Queue, Waiting
from flow.store import dag_files, dag_intervals, dags
from flow.store.connect import Conn, transaction
from flow.store.dag_files import Failure, KnownFile, ParsedFile
from flow.store.dags import Definition, Stored
from flow.store.notify import WAKE, Notifier

log = logging.getLogger(__name__)

_MOST_SWEEPS: Final = 3
"""Sweeps of `run_once`: a file that changes while it is imported is imported again."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a DAG processor has to know. Durations in seconds."""

    dsn: str
    listen_dsn: str
    version: str
    folders: tuple[Path, ...]
    read: Read
    timeout: float = 60.0
    memory: int = Limits().memory
    """Bytes that one import may use: what it does beyond that would harm everybody on the host."""
    interval: float = 30.0
    processes: int = 2
    paused_at_creation: bool = True
    user: TaskUser | None = None
    heartbeat: float = 5.0
    lost_after: float = 300.0
    timezone: str = "UTC"
    """Zone of DAGs whose start date names none."""
    keep: Callable[[], Collection[int]] = tuple
    """Processes that are no leftovers of an import, wherever they have moved up."""

    @property
    def limits(self) -> Limits:
        """What one import may take."""
        return Limits(self.timeout, self.memory)


@dataclass(slots=True)
class Memory:
    """What outlives a lost connection: what this process knows of the files."""

    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    attempts: dict[str, Attempt] = field(default_factory=dict)
    before: dict[str, str] | None = None
    """Content hash by file, as the sweep before saw it."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Folders that the sweep before could not read, and why."""


class Parser:
    """One DAG processor. Only `run_once` waits for imports; the rest waits for nothing but the
    database."""

    def __init__(self, settings: Settings, conn: Conn, imports: Imports, memory: Memory) -> None:
        self._settings = settings
        self._conn = conn
        self._imports = imports
        self._memory = memory
        self._notifier = Notifier()
        self._queue = Queue(settings.processes)
        self._seen = Scan()
        self._sweep_at = 0.0

    def fileno(self) -> int:
        """Readable when `work` has something to do."""
        return self._imports.fileno()

    def run_once(self) -> None:
        """Look at the folders, and parse until everything has been parsed."""
        for _ in range(_MOST_SWEEPS):
            self.sweep()
            self.turn()
            with selectors.DefaultSelector() as selector:
                selector.register(self, selectors.EVENT_READ)
                while len(self._queue) or len(self._imports):
                    wait(selector, self._idle_for())
                    self.turn()
            if self._sweep_at > time.monotonic():
                return

    def sweep_soon(self) -> None:
        """Let the next `work` look at the folders."""
        self._sweep_at = time.monotonic()

    def work(self) -> float:
        """Do all that is due; returns the seconds until something is due by itself."""
        if time.monotonic() >= self._sweep_at:
            self.sweep()
        self.turn()
        owed = self._notifier.pay(self._conn)
        return self._idle_for() if owed is None else min(owed, self._idle_for())

    def sweep(self) -> None:
        """Look at the folders once and let what should be parsed wait for it."""
        memory = self._memory
        self._sweep_at = time.monotonic() + self._settings.interval
        self._seen = folders.scan(self._settings.folders)
        self._warn_unreadable()
        contents = dict.fromkeys(self._seen.illegible, "")
        contents |= {path: memory.fingerprints.content(path) for path in self._seen.files}
        known = dag_files.known(self._conn)
        planned = plan.plan(self._look(contents, known))
        if planned.gone:
            self._hide(planned.gone)
        self._refuse_illegible(known)
        changed = [Waiting(path) for path in planned.changed]
        # Several processors start in different places, and so seldom parse the same file.
        random.shuffle(changed)
        self._queue.add(changed)
        self._queue.add(Waiting(path, again=True) for path in planned.again)
        if planned.gone:
            self._requeue_freed()
        self._evaluate_again()
        memory.before = contents

    def turn(self) -> None:
        """Take what the imports have to say, stop those that are overdue, start others."""
        for news in self._imports.news():
            if isinstance(news, ChildMessage):
                reply = answer(self._conn, news.message, self._settings.read)
                self._imports.host.reply(news.job_id, reply)
            else:
                self._settle(news)
        self._imports.stop_overdue()
        while (waiting := self._queue.take()) is not None:
            if not self._start(waiting):
                self._queue.done(waiting.path)

    def _idle_for(self) -> float:
        deadline = self._imports.next_deadline()
        due = self._sweep_at if deadline is None else min(self._sweep_at, deadline)
        return max(0.0, due - time.monotonic())

    def _look(self, contents: dict[str, str], known: dict[str, KnownFile]) -> Sight:
        """Read what the plan is made of."""
        memory, seen = self._memory, self._seen
        memory.attempts = {k: v for k, v in memory.attempts.items() if k in seen.files}
        modules = {path: plan.modules(path, memory.attempts, known) for path in seen.files}
        hashes = {path: memory.fingerprints.code(path, modules[path]) for path in seen.files}
        memory.fingerprints.keep({*hashes, *(p for ms in modules.values() for p in ms.values())})
        return Sight(
            hashes=hashes,
            known=known,
            attempts=memory.attempts,
            missing=[p for p in known if p not in contents and self._is_missing(p)],
            now=time.monotonic(),
            busy=self._queue.running,
            before=memory.before,
            code_changed=memory.before is not None and memory.before != contents,
        )

    def _warn_unreadable(self) -> None:
        unreadable = self._seen.unreadable
        for folder in unreadable.keys() - self._memory.unreadable.keys():
            log.warning(
                "%s cannot be read (%s): its DAGs stay as they are", folder, unreadable[folder]
            )
        self._memory.unreadable = unreadable

    def _is_missing(self, path: str) -> bool:
        return not self._seen.unseen(path) and not os.path.lexists(path)

    def _start(self, waiting: Waiting) -> bool:
        """Start to import a file; False when it needs none any more."""
        path = waiting.path
        if path not in self._seen.files:
            return False
        if not waiting.again and not waiting.alone and self._parsed_elsewhere(path):
            return False
        self._imports.start(path, self._seen.files[path])
        return True

    def _parsed_elsewhere(self, path: str) -> bool:
        """Whether another processor has parsed the file as it is, since the sweep."""
        row = dag_files.find(self._conn, path)
        if row is None or self._memory.fingerprints.code(path, row.modules) != row.code_hash:
            return False
        self._memory.attempts[path] = Attempt(row.code_hash, row.modules, time.monotonic())
        return True

    def _settle(self, imported: Imported) -> None:
        """Store what an import found, unless it has to be done again."""
        waiting = self._queue.done(imported.path)
        if imported.ended is None and not waiting.alone:
            # Nobody knows yet whether this one or another has ended them all.
            self._queue.add([waiting._replace(alone=True)])
            return
        result = imported.ended.result if imported.ended else None
        parsed = result if isinstance(result, Parsed) else Parsed()
        modules = {n: path for n, path in parsed.modules.items() if path.startswith(os.sep)}
        fingerprints = self._memory.fingerprints
        if fingerprints.changed_since([imported.path, *modules.values()], imported.started):
            # Which of both states was imported? The next sweep sees a change and parses again.
            self.sweep_soon()
            return
        file = ParsedFile(
            path=imported.path,
            code_hash=fingerprints.code(imported.path, modules),
            modules=modules,
            seconds=parsed.seconds if imported.ended and result else imported.seconds,
            output=imported.output,
            warnings=parsed.warnings,
        )
        self._memory.attempts[file.path] = Attempt(file.code_hash, modules, time.monotonic())
        self._store(file, verdict.judge(imported, self._settings.limits))

    def _store(self, file: ParsedFile, found: Failure | list[Definition]) -> None:
        if isinstance(found, Failure):
            self._store_failure(file, found)
            return
        try:
            with transaction(self._conn, "parse.store"):
                stored = dags.store(
                    self._conn, file, found, paused=self._settings.paused_at_creation
                )
        except (psycopg.DataError, psycopg.IntegrityError, ValueError, OverflowError) as error:
            # A DAG can be sound as a graph and still not fit, with a date too far away.
            reason = " ".join(str(error).split())
            self._store_failure(file, Failure(f"a DAG of this file cannot be stored: {reason}"))
        else:
            self._announce(file, stored)

    def _store_failure(self, file: ParsedFile, failure: Failure) -> None:
        with transaction(self._conn, "parse.fail"):
            written = dag_files.put(self._conn, file, failure)
        if written:
            log.warning("%s: %s", file.path, failure.error)

    def _announce(self, file: ParsedFile, stored: Stored) -> None:
        if stored.wake:
            self._notifier.send(self._conn, WAKE)
        for dag_id, number in stored.versions.items():
            log.info("%s: DAG %s, version %d", file.path, dag_id, number)
        for dag_id in stored.vanished:
            log.info("%s: DAG %s is not defined any more", file.path, dag_id)
        for dag_id, owner in stored.conflicts.items():
            log.warning("%s: DAG %s is refused, %s defines it", file.path, dag_id, owner)
        if stored.vanished:
            self._requeue_freed()

    def _hide(self, gone: list[str]) -> None:
        with transaction(self._conn, "parse.hide"):
            hidden = dags.hide(self._conn, gone)
        log.info("%d files are gone, and with them %d DAGs", len(gone), len(hidden))

    def _requeue_freed(self) -> None:
        """Parse files that were refused an id which has just become free."""
        freed = (path for path in dag_files.freed(self._conn) if path in self._seen.files)
        self._queue.add(Waiting(path, again=True) for path in freed)

    def _evaluate_again(self) -> None:
        """Import files with timetables of the user's own whose stored intervals run out."""
        with transaction(self._conn, "parse.refresh"):
            low = dag_intervals.take_low(self._conn)
        self._queue.add(Waiting(path, again=True) for path in low & self._seen.files.keys())

    def _refuse_illegible(self, known: dict[str, KnownFile]) -> None:
        failure = Failure("the name of this file is not UTF-8 text: rename it")
        for path in self._seen.illegible:
            if path not in known:
                self._store_failure(ParsedFile(path, code_hash=""), failure)
