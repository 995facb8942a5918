"""Variables that DAG files read while they are imported.

Each is read from the database once, however many files ask for it, and again when it has changed.
"""

from __future__ import annotations

from collections.abc import Collection

from flow.process.messages import GetVariable, ToChild
from flow.roles.parse.answers import Read
from flow.store import variables
from flow.store.connect import Conn


class Snapshot:
    """What files were told, and the stamp of each variable at that time."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._stamps: dict[str, str | None] = {}
        self._answers: dict[str, ToChild] = {}

    def get(self, conn: Conn, request: GetVariable) -> tuple[ToChild, str | None]:
        """The answer to a request, and its stamp."""
        key = request.key
        if key not in self._answers:
            # The stamp first: one that is too old only makes the file be parsed once more.
            self._stamps |= variables.stamps(conn, [key])
            self._answers[key] = self._read(conn, request)
        return self._answers[key], self._stamps[key]

    def look(self, conn: Conn, keys: Collection[str]) -> None:
        """Look at variables that files are known to read."""
        found = variables.stamps(conn, {*keys, *self._stamps})
        for key, stamp in found.items():
            if self._stamps.get(key) != stamp:
                self._answers.pop(key, None)
        self._stamps = found

    def keep(self, keys: Collection[str]) -> None:
        """Forget all others: files that have read a variable of another name each time."""
        for key in self._stamps.keys() - set(keys):
            del self._stamps[key]
            self._answers.pop(key, None)

    def changed(self, conn: Conn) -> bool:
        """Whether one of those that were looked at is another one now."""
        return bool(self._stamps) and variables.stamps(conn, self._stamps) != self._stamps

    def stamps(self, keys: Collection[str]) -> dict[str, str | None]:
        """The stamps of variables as they were looked at last."""
        return {key: self._stamps.get(key) for key in keys}
