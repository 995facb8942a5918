"""What a place for logs has to be able to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol


class Logs(Protocol):
    """Logs of tries. An address is text that says where in this place a log is."""

    def address(
        self, dag_id: str, run_id: str, task_id: str, map_path: Sequence[int], try_number: int
    ) -> str:
        """Where the log of a try is, or will be."""

    def exists(self, address: str) -> bool:
        """Whether there is a log at this address, as far as it can be seen from this host."""

    def written_at(self, address: str) -> datetime | None:
        """When the log was last written, by the clock of the place; None: it is not there.

        Raises `LogUnreadable`.
        """

    def earlier(self, address: str) -> list[str]:
        """The addresses of logs of earlier runs that were set aside from this one, oldest first."""

    def read(self, address: str, offset: int = 0) -> Iterator[bytes]:
        """The bytes of a log from `offset` on, in pieces; none when there is no such log yet.

        Raises `LogUnreadable`.
        """
