"""Writing what imports have found: DAGs with their versions, or why a file has none.

Where many files are imported at once, what they define is stored together: a transaction costs more
than what one file writes in it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

import psycopg

from flow.graph.imported import ImportedDag, ImportFailure
from flow.store import dag_files, dags
from flow.store.connect import Conn, transaction
from flow.store.dag_files import ParsedFile
from flow.store.dags import Stored
from flow.store.notify import WAKE, Notifier

log = logging.getLogger(__name__)

_COALESCE: Final = 0.1
"""Seconds between two notifications: thousands of new files wake schedulers ten times a second."""
_MOST: Final = 16
"""Files in one transaction."""
_LONGEST_WAIT: Final = 0.1
"""Seconds for which a file waits for others."""
_UNFIT: Final = (psycopg.DataError, psycopg.IntegrityError, ValueError, OverflowError)
"""A DAG can be sound as a graph and still not fit, with a date too far away."""


class Found(NamedTuple):
    """A file, and what its import has found."""

    file: ParsedFile
    result: ImportFailure | list[ImportedDag]


class Settled(NamedTuple):
    """What became of files that were to be stored."""

    stored: Sequence[Found] = ()
    gave_up: bool = False
    """One of them no longer defines an id that it had."""
    taken_over: Sequence[str] = ()
    """Another processor imports these by now: what this one has found does not count."""


class Storing:
    """Files on their way to the database.

    `settle(paths)` gives files back in the transaction that stores them, and is its fence: it says
    which of them were held still.
    """

    def __init__(
        self, conn: Conn, settle: Callable[[Collection[str]], set[str]], *, paused: bool
    ) -> None:
        self._conn = conn
        self._settle = settle
        self._paused = paused
        self._waiting: list[Found] = []
        self._store_at = 0.0
        self._notifier = Notifier(_COALESCE)

    def add(self, file: ParsedFile, result: ImportFailure | list[ImportedDag]) -> None:
        """Let `store` write what an import has found, together with that of others."""
        if not self._waiting:
            self._store_at = time.monotonic() + _LONGEST_WAIT
        self._waiting.append(Found(file, result))

    def due_in(self) -> float | None:
        """Seconds until what waits is to be stored; None: nothing waits."""
        if not self._waiting:
            return None
        if len(self._waiting) >= _MOST:
            return 0.0
        return max(0.0, self._store_at - time.monotonic())

    def store(self) -> Settled:
        """Store all that waits. What cannot be stored keeps nothing of the others back."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return Settled()
        try:
            return self._store(waiting)
        except _UNFIT as error:
            if len(waiting) == 1:
                return self._store_unfit(waiting[0].file, error)
        settled = [self._store_alone(one) for one in waiting]
        return Settled(
            [found for one in settled for found in one.stored],
            any(one.gave_up for one in settled),
            [path for one in settled for path in one.taken_over],
        )

    def refuse(self, path: str, failure: ImportFailure) -> None:
        """Store why a file is not imported at all."""
        with transaction(self._conn, "parse.refuse"):
            dag_files.put(self._conn, ParsedFile(path, code_hash=""), failure)
        log.warning("%s: %s", path, failure.error)

    def hide(self, gone: list[str]) -> None:
        """Store that files are gone."""
        with transaction(self._conn, "parse.hide"):
            hidden = dags.hide(self._conn, gone)
        log.info("%d files are gone, and with them %d DAGs", len(gone), len(hidden))

    def pay(self) -> float | None:
        """Send the notifications that are owed; seconds until the next one, None without any."""
        return self._notifier.pay(self._conn)

    def _store_alone(self, found: Found) -> Settled:
        try:
            return self._store([found])
        except _UNFIT as error:
            return self._store_unfit(found.file, error)

    def _store_unfit(self, file: ParsedFile, error: Exception) -> Settled:
        reason = " ".join(str(error).split())
        failure = ImportFailure(f"a DAG of this file cannot be stored: {reason}")
        found = [Found(file, failure)]
        with transaction(self._conn, "parse.fail"):
            written = self._write(found)
        return self._tell(found, *written)

    def _store(self, found: Sequence[Found]) -> Settled:
        with transaction(self._conn, "parse.store"):
            written = self._write(found)
        return self._tell(found, *written)

    def _write(self, found: Sequence[Found]) -> tuple[list[Found], list[Stored]]:
        """Store what we have the leases of, within a transaction: that, and what became of it."""
        held = self._settle([one.file.path for one in found])
        mine = [one for one in found if one.file.path in held]
        return mine, dags.store_all(self._conn, mine, paused=self._paused)

    def _tell(
        self, found: Sequence[Found], mine: Sequence[Found], stored: Sequence[Stored]
    ) -> Settled:
        """Let schedulers and people know of what was stored."""
        if any(one.wake for one in stored):
            self._notifier.send(self._conn, WAKE)
        for one, changed in zip(mine, stored, strict=True):
            _announce(one, changed)
        return Settled(
            list(mine),
            any(one.vanished for one in stored),
            sorted({one.file.path for one in found} - {one.file.path for one in mine}),
        )


def _announce(found: Found, stored: Stored) -> None:
    path = found.file.path
    if isinstance(found.result, ImportFailure):
        if stored.written:
            log.warning("%s: %s", path, found.result.error)
        return
    for dag_id, number in stored.versions.items():
        log.info("%s: DAG %s, version %d", path, dag_id, number)
    for dag_id in stored.vanished:
        log.info("%s: DAG %s is not defined any more", path, dag_id)
    for dag_id, owner in stored.conflicts.items():
        log.warning("%s: DAG %s is refused, %s defines it", path, dag_id, owner)
