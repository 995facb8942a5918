"""Finding workers that are gone, and freeing what they held.

Judged by progress, not by clocks: a process is lost when this scheduler, with the database
answering throughout, has seen its heartbeat counter unchanged for the process's own threshold, on
this scheduler's monotonic clock. Observations from before an outage do not count, and of a time in
which nobody looked only the usual pause between two looks does; so neither an outage, nor a
database or scheduler that stood still, nor a clock that jumps makes anybody lost.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from flow.roles.losses import free
from flow.store import processes
from flow.store.connect import Conn, transaction
from flow.store.processes import Observed

log = logging.getLogger(__name__)

ROLES = ("parse", "schedule", "work", "trigger")
_NOUNS: Final = {"work": "worker"}
"""What a process is called beside its host and pid, as `flow status` and tries show it."""


class Watch:
    """Heartbeats as one scheduler has seen them since it connected.

    `pace` is its usual pause between two looks, in seconds.
    """

    def __init__(self, pace: float) -> None:
        self._longest = 2 * pace
        self._looked: float | None = None
        self._seen: dict[int, tuple[int, float]] = {}

    def overdue(self, alive: Iterable[Observed], now: float) -> list[Observed]:
        """Processes whose counter has stood still for their threshold, as far as was seen.

        `now` is in seconds of the monotonic clock, from before the look.
        """
        passed = 0.0 if self._looked is None else min(now - self._looked, self._longest)
        self._looked = now
        seen = {}
        late = []
        for process in alive:
            counter, silent = self._seen.get(process.process_id, (None, 0.0))
            silent = silent + passed if counter == process.heartbeat else 0.0
            seen[process.process_id] = (process.heartbeat, silent)
            if silent >= process.lost_after:
                late.append(process)
        self._seen = seen
        return late


def rescue(conn: Conn, watch: Watch, now: float) -> int:
    """Declare overdue processes lost and free their tries; how many tries were freed."""
    freed = 0
    for process in watch.overdue(processes.alive(conn, ROLES), now):
        with transaction(conn, "schedule.lose"):
            if not processes.lose(conn, process.process_id, process.heartbeat):
                continue
            freed += free(conn, process.process_id, _lost_reason(process))
            log.warning(
                "%s %d on %s (pid %d) has not counted up for %.0f s: lost",
                process.role, process.process_id, process.host, process.pid, process.lost_after,
            )  # fmt: skip
    return freed


def _lost_reason(process: Observed) -> str:
    silence = f"no heartbeat for {process.lost_after:.0f} s"
    return f"{_NOUNS.get(process.role, process.role)} {process.host}:{process.pid} lost: {silence}"
