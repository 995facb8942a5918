"""What a worker has to know."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flow.process.environment import TaskUser

_BESIDE_VALUE: Final = 64 << 10
"""Bytes that a result may take beside the value it returns."""
_MOST_SPARE: Final = 32


@dataclass(frozen=True, slots=True)
class Settings:
    """Durations in seconds; `lease_ratio` is the part of `lost_after` for which tries may go on
    without a committed heartbeat; `min_free_memory` a part of the host's memory."""

    dsn: str
    listen_dsn: str
    version: str
    home: Path
    logs: Path
    key_file: Path
    folders: tuple[Path, ...] = ()
    """DAG folders, for imports of local modules."""
    timezone: str = "UTC"
    """Zone of DAGs whose start date names none."""
    xcom_limit: int = 1 << 20
    """Largest XCom, in bytes of JSON."""
    pins: bool = False
    """Whether code is pinned where a DAG does not say it."""
    code_wait: float = 60.0
    """How long a try waits for its pinned code."""
    slots: int = 8
    most_slots: int | None = None
    """How many there may be while the host can spare it; None: never more than `slots`."""
    queues: tuple[str, ...] = ("default",)
    executor: str = "local"
    heartbeat: float = 5.0
    lost_after: float = 300.0
    lease_ratio: float = 0.9
    keeps_tries: bool = False
    """Whether tries go on without contact for longer than the lease."""
    kill_grace: float = 30.0
    drain_timeout: float | None = None
    """None: until the tries have ended by themselves."""
    min_free_memory: float = 0.10
    task_user: TaskUser | None = None

    @property
    def most(self) -> int:
        """The largest number of slots there may be."""
        return self.slots if self.most_slots is None else self.most_slots

    @property
    def spare(self) -> int:
        """How many processes are forked ahead of their tries (`flow.process.stock`).

        What that spares is not more with more of them. With many slots it is memory: what the
        zygote writes to between two rows of forks, all those of one row share.
        """
        return max(1, min(self.most, 4 + self.slots // 100, _MOST_SPARE))

    @property
    def results_limit(self) -> int:
        """Bytes of results that may wait on disk: those of two tries a slot, as large as can be."""
        return 2 * max(1, self.most) * (self.xcom_limit + _BESIDE_VALUE)

    @property
    def lease(self) -> float | None:
        """Seconds from before a heartbeat was sent to the end of every try it covers.

        None: they go on for as long as this process lives.
        """
        return None if self.keeps_tries else self.lost_after * self.lease_ratio
