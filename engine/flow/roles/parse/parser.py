"""The DAG processor's work: look at the folders, import what changed, store what it defines."""

from __future__ import annotations

import logging
import os
import random
import selectors
import time
from collections.abc import Collection, Mapping
from typing import Final

from flow.graph.imported import ImportFailure
from flow.process.events import ChildMessage
from flow.process.messages import GetVariable
from flow.roles import stored
from flow.roles.loop import POLL, wait
from flow.roles.parse import folders, plan, verdict
from flow.roles.parse.answers import answer
from flow.roles.parse.folders import Scan
from flow.roles.parse.imports import Imported, Imports
from flow.roles.parse.leases import AHEAD, Leases
from flow.roles.parse.memory import Memory
from flow.roles.parse.plan import Plan, Sight, State
from flow.roles.parse.queue import SLOW, Queue, Waiting
from flow.roles.parse.reach import Reach
from flow.roles.parse.settings import Settings
from flow.roles.parse.storing import Storing
from flow.roles.parse.variables import Snapshot
from flow.roles.registration import Registration
from flow.store import dag_files, dag_intervals, processes
from flow.store.connect import Conn, transaction
from flow.store.dag_files import KnownFile, ParsedFile

log = logging.getLogger(__name__)

_MOST_SWEEPS: Final = 3
"""Sweeps of `run_once`: a file that changes while it is imported is imported again."""
_REST: Final = 4.0
"""Between two sweeps at least so many times the CPU of the last one, whatever changes."""
_MANY: Final = 500
"""Changes in one moment after which a sweep costs less than a look at each."""
_RESTLESS: Final = (
    "this file, or a module that it imports, changes whenever it is imported: what is stored may "
    "be of an older state, and it is imported anew with each look at all files, at least every "
    "parse.interval"
)
_OTHERS: Final = 0.1
"""Seconds between two looks at what another processor is about to finish."""


class Parser:
    """One DAG processor. Only `run_once` waits for imports; the rest waits for nothing but the
    database. The files that are being parsed belong to the process of `registration`."""

    def __init__(
        self,
        settings: Settings,
        conn: Conn,
        imports: Imports,
        memory: Memory,
        registration: Registration,
    ) -> None:
        self._settings = settings
        self._conn = conn
        self._imports = imports
        self._memory = memory
        self._queue = Queue(settings.processes)
        self._registration = registration
        self._leases = Leases(conn, lambda: registration.process_id, settings.timeout)
        self._storing = Storing(conn, self._leases.settle, paused=settings.paused_at_creation)
        self._variables = Snapshot(settings.read)
        self._seen = Scan()
        self.unheard: Mapping[str, str] = {}
        """Why changes are found by looks at all files only, by path."""
        self._reach = Reach(settings.folders, regexp=settings.regexp_ignore)
        self._sweep_at = 0.0
        self._swept_at = 0.0
        self._rested_at = 0.0
        self._look_at = 0.0

    def fileno(self) -> int:
        """Readable when `work` has something to do."""
        return self._imports.fileno()

    def describe(self) -> str:
        """What it does, in one line with figures."""
        files, waiting = len(self._seen.files), len(self._queue)
        return f"parsing: {files} files, {waiting} waiting, {len(self._imports)} being imported"

    @property
    def busy(self) -> bool:
        """Whether files wait to be parsed, or are being parsed."""
        return bool(len(self._queue) or len(self._imports))

    def run_once(self) -> None:
        """Look at the folders, and parse until everything has been parsed, also by others."""
        sweeps = 0
        while sweeps < _MOST_SWEEPS:
            self._leases.refused.clear()
            self.sweep()
            self.turn()
            with selectors.DefaultSelector() as selector:
                selector.register(self, selectors.EVENT_READ)
                while self.busy:
                    wait(selector, self._turn_in())
                    self.turn()
                if self._leases.refused:
                    wait(selector, _OTHERS)
                    continue
            sweeps += 1
            if self._sweep_at > time.monotonic():
                return

    def sweep_soon(self) -> None:
        """Let `work` look at the folders as soon as it has rested from the last time."""
        self._sweep_at = max(time.monotonic(), self._rested_at)

    def look_at(self, paths: Collection[str]) -> None:
        """Let what should be parsed because of changes at some paths wait for it.

        What that costs does not grow with the number of files. Whatever cannot be told from the
        paths alone is left to a sweep.
        """
        before = self._memory.before
        if before is None or len(paths) > _MANY:
            self.sweep_soon()
            return
        self._store()  # else it would look as if it had not been parsed yet
        files, complete = self._reach.of(paths, self._seen)
        if files:
            known = dag_files.some(self._conn, sorted(files))
            self._add(plan.plan(self._sight(self._memory.modules(files, known), known)))
            before |= files
        if not complete:
            self.sweep_soon()

    def work(self) -> float:
        """Do all that is due; returns the seconds until something is due by itself."""
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + POLL
            if self._variables.changed(self._conn):
                self.sweep_soon()
        if now >= self._sweep_at:
            self.sweep()
        self.turn()
        owed = self._storing.pay()
        due = max(0.0, min(self._sweep_at, self._look_at) - time.monotonic())
        return min(due, self._turn_in(), due if owed is None else owed)

    def sweep(self) -> None:
        """Look at the folders once and let what should be parsed wait for it."""
        self._store()  # else it would look as if it had not been parsed yet
        memory = self._memory
        began, used = time.monotonic(), time.process_time()
        self._sweep_at = began + self._settings.interval
        self._seen = folders.scan(self._settings.folders, regexp=self._settings.regexp_ignore)
        self._tell_warnings()
        known = dag_files.known(self._conn)
        planned = plan.plan(self._look(known))
        if planned.gone:
            self._storing.hide(planned.gone)
        self._refuse_illegible(known)
        self._add(planned)
        self._queue.add(Waiting(path, again=True) for path in filter(memory.is_restless, known))
        if planned.gone:
            self._requeue_freed()
        self._evaluate_again()
        unseen = filter(self._seen.unseen, memory.before or ())
        memory.before = {*self._seen.files, *self._seen.illegible, *unseen}
        self._swept_at = began
        self._rested_at = time.monotonic() + _REST * (time.process_time() - used)

    def turn(self) -> None:
        """Take what the imports have to say, stop those that are overdue, start others."""
        self._registration.keep(self._conn)
        for news in self._imports.news():
            if isinstance(news, ChildMessage):
                self._answer(news)
            else:
                self._settle(news)
        self._imports.stop_overdue()
        self._imports.give_way(SLOW, self._queue.yields)
        self._start_next()
        if self._storing.due_in() == 0.0 or not len(self._imports):
            self._store()
            self._start_next()
        if not self.busy:
            self._imports.rest()

    def _turn_in(self) -> float:
        """Seconds until `turn` has something to do by itself."""
        moments = [self._registration.due_in()]
        if (deadline := self._imports.next_deadline(SLOW)) is not None:
            moments.append(max(0.0, deadline - time.monotonic()))
        if (storing := self._storing.due_in()) is not None:
            moments.append(storing)
        return min(moments)

    def _answer(self, news: ChildMessage) -> None:
        message = news.message
        try:
            if isinstance(message, GetVariable):
                reply, stamp = self._variables.get(self._conn, message)
                self._imports.note_variable(news.job_id, message.key, stamp)
            else:
                reply = answer(self._conn, message, self._settings.read)
        except stored.REFUSED as error:
            reply = stored.refusal(error)
        self._imports.host.reply(news.job_id, reply)

    def _look(self, known: Mapping[str, KnownFile]) -> Sight:
        """Read what the plan is made of, of all files."""
        memory, seen = self._memory, self._seen
        memory.keep(seen.files)
        modules = memory.modules(seen.files, known)
        self._reach.renew(modules)
        missing = [path for path in known if path not in seen.files and self._is_missing(path)]
        sight = self._sight(modules, known, missing)
        memory.fingerprints.keep({*modules, *(p for ms in modules.values() for p in ms.values())})
        read = {key for state in sight.states.values() for key in state.variables}
        self._variables.keep(read | self._imports.reading())
        return sight

    def _sight(
        self,
        modules: Mapping[str, Mapping[str, str]],
        known: Mapping[str, KnownFile],
        missing: Collection[str] = (),
    ) -> Sight:
        """What the plan is made of, of some files with their modules."""
        memory = self._memory
        keys = {path: plan.variables(path, memory.attempts, known) for path in modules}
        self._variables.look(self._conn, {key for some in keys.values() for key in some})
        return Sight(
            states={path: self._state(path, found, keys[path]) for path, found in modules.items()},
            known=known,
            attempts=memory.attempts,
            missing=missing,
            now=time.monotonic(),
            busy=self._queue.running,
            before=memory.before,
        )

    def _add(self, planned: Plan) -> None:
        """Let what is planned to be parsed wait for it."""
        memory, swept_at = self._memory, self._swept_at
        changed = [Waiting(path, own=memory.is_own(path, swept_at)) for path in planned.changed]
        # Several processors start in different places, and so seldom want the same file.
        random.shuffle(changed)
        self._queue.add(changed)
        self._queue.add(Waiting(path, again=True) for path in planned.again)

    def _state(self, path: str, modules: Mapping[str, str], keys: Collection[str]) -> State:
        stamps = self._variables.stamps(keys) if keys else {}
        return State(self._memory.fingerprints.code(path, modules), stamps)

    def _tell_warnings(self) -> None:
        """Log what is newly wrong with the folders, and let people see what is."""
        warnings = {**self.unheard, **self._seen.warnings()}
        memory, process_id = self._memory, self._registration.process_id
        if (warnings, process_id) == (memory.warnings, memory.warned_by):
            return
        for path, text in warnings.items() - memory.warnings.items():
            log.warning("%s: %s", path, text)
        if warnings or memory.warned_by == process_id:
            with transaction(self._conn, "parse.warn"):
                processes.warn(self._conn, process_id, warnings)
        memory.warnings, memory.warned_by = warnings, process_id

    def _is_missing(self, path: str) -> bool:
        if path in self._seen.illegible or self._seen.unseen(path):
            return False
        return self._seen.passed_over(path) or not os.path.lexists(path)

    def _start_next(self) -> None:
        """Start to import what there are processes for."""
        while (waiting := self._queue.take()) is not None:
            if not self._start(waiting):
                self._queue.done(waiting.path)

    def _start(self, waiting: Waiting) -> bool:
        """Start to import a file; False when it needs none any more, or another one does it."""
        path = waiting.path
        if path not in self._seen.files:
            self._leases.give_back([path])
            return False
        if not self._leases.hold(path, self._queue.next(AHEAD - 1)):
            return False
        if not waiting.again and not waiting.alone and self._parsed_elsewhere(path):
            self._leases.give_back([path])
            return False
        self._imports.start(path, self._seen.files[path])
        return True

    def _parsed_elsewhere(self, path: str) -> bool:
        """Whether another processor has parsed the file as it is, since the sweep."""
        row = self._leases.known(path)
        if row is None:
            return False
        state = self._state(path, row.modules, row.variables)
        if state != plan.state_of(row):
            return False
        self._memory.note(path, state, row.modules)
        return True

    def _settle(self, imported: Imported) -> None:
        """Let what an import found be stored, unless it has to be done again."""
        waiting = self._queue.done(imported.path)
        if imported.gave_way:
            self._queue.add([waiting._replace(again=True)])
            return
        if imported.ended is None and not waiting.alone:
            # Nobody knows yet whether this one or another has ended them all.
            self._queue.add([waiting.suspected()])
            return
        root = self._seen.files.get(imported.path, "")
        modules = verdict.modules(verdict.said(imported), root)
        code_hash = self._memory.fingerprints.code(imported.path, modules)
        changed = self._has_changed(imported, modules)
        self._memory.note_import(imported.path, changed=changed)
        if changed and not self._memory.is_restless(imported.path):
            # Which of both states was imported?
            self._leases.give_back([imported.path])
            if os.path.isfile(imported.path):  # noqa: PTH113 - as elsewhere for paths of files
                self._queue.add([waiting.renewed()])
            else:
                self.sweep_soon()
            return
        file = verdict.file(imported, root, modules, code_hash)
        if self._memory.is_restless(imported.path):
            file = file._replace(warnings=[_RESTLESS, *file.warnings])
        self._storing.add(file, verdict.judge(imported, self._settings.limits))

    def _has_changed(self, imported: Imported, modules: Mapping[str, str]) -> bool:
        """Whether a file, or a module of its, has changed while it was imported."""
        fingerprints, paths = self._memory.fingerprints, [imported.path, *modules.values()]
        changed = fingerprints.changed_since(paths, imported.started)
        return changed or fingerprints.differ(verdict.signatures(imported, modules))

    def _store(self) -> None:
        """Store what imports have found since the last time."""
        settled = self._storing.store()
        for found in settled.stored:
            self._remember(found.file, failed=isinstance(found.result, ImportFailure))
        for path in settled.taken_over:
            log.warning("%s: another DAG processor has taken it over", path)
            self._memory.attempts.pop(path, None)
            self.sweep_soon()
        if settled.gave_up:
            self._requeue_freed()

    def _remember(self, file: ParsedFile, *, failed: bool) -> None:
        self._reach.note(file.path, file.modules)
        state = State(file.code_hash, file.variables)
        self._memory.note(file.path, state, file.modules, failed=failed)

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
        failure = ImportFailure("the name of this file is not UTF-8 text: rename it")
        for path in self._seen.illegible:
            if path not in known:
                self._storing.refuse(path, failure)
