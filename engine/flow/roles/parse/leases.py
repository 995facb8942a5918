"""The files that this DAG processor has taken to import, so that no other one does it as well."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Final

from flow.store import dag_files, parse_leases
from flow.store.connect import Conn, transaction
from flow.store.dag_files import KnownFile

AHEAD: Final = 16
"""Files taken in one statement."""
_FRESH: Final = 10.0
"""Seconds for which a file may wait here for a process."""
_MARGIN: Final = 15.0
"""Seconds beyond an import's time limit after which another processor may take its file."""


class Leases:
    """Files on their way from the queue to the store. `timeout` is that of an import, in seconds.

    `holder` is the process whose leases they are (`flow.roles.registration`).
    """

    def __init__(self, conn: Conn, holder: Callable[[], int], timeout: float) -> None:
        self._conn = conn
        self._holder = holder
        self._seconds = timeout + _FRESH + _MARGIN
        self._taken: dict[str, float] = {}
        self._known: dict[str, KnownFile] = {}
        self.refused: set[str] = set()
        """Files that another processor has, as it turned out since this was cleared."""

    def hold(self, path: str, ahead: Sequence[str] = ()) -> bool:
        """Take a file, and while one is about it those that are next; whether it is held now."""
        now = time.monotonic()
        if now - self._taken.get(path, -_FRESH) >= _FRESH:
            self._take([path, *(p for p in ahead if p not in self._taken)], now)
        return path in self._taken

    def known(self, path: str) -> KnownFile | None:
        """A held file as it was parsed last, by whomever: nobody has parsed it since."""
        return self._known.get(path)

    def settle(self, paths: Collection[str]) -> set[str]:
        """Give files back within the transaction that stores them; those that were held still."""
        self._forget(paths)
        return parse_leases.give_back(self._conn, self._holder(), paths)

    def give_back(self, paths: Collection[str]) -> None:
        """Give back files that need no import after all."""
        held = [path for path in paths if path in self._taken]
        if held:
            self._forget(held)
            with transaction(self._conn, "parse.give_back"):
                parse_leases.give_back(self._conn, self._holder(), held)

    def _take(self, paths: Sequence[str], now: float) -> None:
        self._forget(paths)
        with transaction(self._conn, "parse.take"):
            taken = parse_leases.take(self._conn, self._holder(), paths, self._seconds)
            known = dag_files.some(self._conn, paths)
        self._taken.update(dict.fromkeys(taken, now))
        self._known.update({path: row for path, row in known.items() if path in taken})
        self.refused.update(set(paths) - taken)

    def _forget(self, paths: Collection[str]) -> None:
        for path in paths:
            self._taken.pop(path, None)
            self._known.pop(path, None)
