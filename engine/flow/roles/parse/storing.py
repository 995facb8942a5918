"""Writing what imports have found: DAGs with their versions, or why a file has none."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

import psycopg

from flow.store import dag_files, dags
from flow.store.connect import Conn, transaction
from flow.store.dag_files import Failure, ParsedFile
from flow.store.dags import Definition, Stored
from flow.store.notify import WAKE, Notifier

log = logging.getLogger(__name__)

_COALESCE: Final = 0.1
"""Seconds between two notifications: thousands of new files wake schedulers ten times a second."""


class TakenOver(Exception):
    """Another processor imports this file by now: what this one has found does not count."""


class Storing:
    """`settle(path)` gives the file back in the transaction that stores it, and is its fence."""

    def __init__(self, conn: Conn, settle: Callable[[str], bool], *, paused: bool) -> None:
        self._conn = conn
        self._settle = settle
        self._paused = paused
        self._notifier = Notifier(_COALESCE)

    def store(self, file: ParsedFile, found: Failure | list[Definition]) -> bool:
        """Store what an import has found; whether ids were given up. Raises `TakenOver`."""
        if isinstance(found, Failure):
            self._store_failure(file, found)
            return False
        try:
            with transaction(self._conn, "parse.store"):
                self._require(file.path)
                stored = dags.store(self._conn, file, found, paused=self._paused)
        except (psycopg.DataError, psycopg.IntegrityError, ValueError, OverflowError) as error:
            # A DAG can be sound as a graph and still not fit, with a date too far away.
            reason = " ".join(str(error).split())
            self._store_failure(file, Failure(f"a DAG of this file cannot be stored: {reason}"))
            return False
        self._announce(file, stored)
        return bool(stored.vanished)

    def refuse(self, path: str, failure: Failure) -> None:
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

    def _store_failure(self, file: ParsedFile, failure: Failure) -> None:
        with transaction(self._conn, "parse.fail"):
            self._require(file.path)
            written = dag_files.put(self._conn, file, failure)
        if written:
            log.warning("%s: %s", file.path, failure.error)

    def _require(self, path: str) -> None:
        if not self._settle(path):
            raise TakenOver(path)

    def _announce(self, file: ParsedFile, stored: Stored) -> None:
        if stored.wake:
            self._notifier.send(self._conn, WAKE)
        for dag_id, number in stored.versions.items():
            log.info("%s: DAG %s, version %d", file.path, dag_id, number)
        for dag_id in stored.vanished:
            log.info("%s: DAG %s is not defined any more", file.path, dag_id)
        for dag_id, owner in stored.conflicts.items():
            log.warning("%s: DAG %s is refused, %s defines it", file.path, dag_id, owner)
