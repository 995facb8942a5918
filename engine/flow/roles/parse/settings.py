"""What a DAG processor has to know."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from flow.process.environment import TaskUser
from flow.process.verdict import Limits
from flow.roles.parse.answers import Read


@dataclass(frozen=True, slots=True)
class Settings:
    """Durations in seconds."""

    dsn: str
    listen_dsn: str
    version: str
    folders: tuple[Path, ...]
    read: Read
    timeout: float = 60.0
    memory: int = Limits().memory
    """Bytes that one import may use: what it does beyond that would harm everybody on the host."""
    interval: float = 30.0
    processes: int = 2
    paused_at_creation: bool = True
    user: TaskUser | None = None
    heartbeat: float = 5.0
    lost_after: float = 300.0
    timezone: str = "UTC"
    """Zone of DAGs whose start date names none."""
    regexp_ignore: bool = False
    """`.airflowignore` files are lines of regular expressions, not like `.gitignore`."""
    keep: Callable[[], Collection[int]] = tuple
    """Processes that are no leftovers of an import, wherever they have moved up."""

    @property
    def limits(self) -> Limits:
        """What one import may take."""
        return Limits(self.timeout, self.memory)
