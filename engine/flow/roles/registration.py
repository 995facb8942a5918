"""A role's row among the processes, and its heartbeat."""

from __future__ import annotations

import os
import socket
import time

from flow.store import processes
from flow.store.connect import Conn, transaction


class Registration:
    """The row of this process, from its first heartbeat on; it outlives a lost connection.

    `heartbeat` and `lost_after` are in seconds.
    """

    def __init__(
        self, role: str, version: str, *, heartbeat: float, lost_after: float, slots: int = 0
    ) -> None:
        self._role = role
        self._version = version
        self._heartbeat = heartbeat
        self._lost_after = lost_after
        self._slots = slots
        self._process_id: int | None = None
        self._beat_at = 0.0

    @property
    def registered(self) -> bool:
        """Whether this process has had a row."""
        return self._process_id is not None

    @property
    def process_id(self) -> int:
        """The id of the row. Raises RuntimeError before the first `keep`."""
        if self._process_id is None:
            raise RuntimeError("this process has no row yet: call keep() first")
        return self._process_id

    def keep(self, conn: Conn) -> bool:
        """Count up when it is time, under a new row if the old one was taken for lost.

        Whether it was time.
        """
        now = time.monotonic()
        if now < self._beat_at:
            return False
        with transaction(conn, f"{self._role}.heartbeat", durable=False):
            mine = self._process_id
            alive = mine is not None and processes.heartbeat(conn, mine)
        if not alive:
            self._register(conn)
        self._beat_at = now + self._heartbeat
        return True

    def due_in(self) -> float:
        """Seconds until it is time again."""
        return max(0.0, self._beat_at - time.monotonic())

    def end(self, conn: Conn) -> None:
        """Close the row."""
        if self._process_id is not None:
            with transaction(conn, f"{self._role}.retire"):
                processes.end(conn, self._process_id, "stopped")

    def _register(self, conn: Conn) -> None:
        with transaction(conn, f"{self._role}.register"):
            self._process_id = processes.register(
                conn,
                role=self._role,
                host=socket.gethostname(),
                pid=os.getpid(),
                version=self._version,
                lost_after=self._lost_after,
                slots=self._slots,
            )
