"""The logs of a place without those of before a moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from flow.logs.backend import Logs


class LogsSince:
    """Logs that were last written at a moment or later; others are as if they were not there.

    So a log is not taken for that of a try which is about to begin, in a run made at that moment,
    and which will set it aside (`flow.logs.earlier`). The moment is by the clock of the database,
    the log by that of its host. Where that is behind, a log is seen as much later; where it is
    ahead, one from just before the moment is seen.
    """

    def __init__(self, place: Logs, moment: datetime) -> None:
        self._place = place
        self._moment = moment

    def address(
        self, dag_id: str, run_id: str, task_id: str, map_path: Sequence[int], try_number: int
    ) -> str:
        """Where the log of a try is, or will be."""
        return self._place.address(dag_id, run_id, task_id, map_path, try_number)

    def exists(self, address: str) -> bool:
        """Whether there is a log at this address that is new enough."""
        return self.written_at(address) is not None and self._place.exists(address)

    def written_at(self, address: str) -> datetime | None:
        """When the log was last written, if it is new enough. Raises `LogUnreadable`."""
        written = self._place.written_at(address)
        return written if written is not None and written >= self._moment else None

    def earlier(self, address: str) -> list[str]:
        """The addresses of logs of earlier runs that were set aside from this one."""
        return self._place.earlier(address)

    def read(self, address: str, offset: int = 0) -> Iterator[bytes]:
        """The bytes of a log from `offset` on, if it is new enough. Raises `LogUnreadable`."""
        if self.written_at(address) is not None:
            yield from self._place.read(address, offset)
