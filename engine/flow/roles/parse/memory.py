"""What a DAG processor knows of the files, from one sweep to the next."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from flow.roles.parse import plan
from flow.roles.parse.fingerprints import Fingerprints
from flow.roles.parse.plan import Attempt, State
from flow.store.dag_files import KnownFile


@dataclass(slots=True)
class Memory:
    """Outlives a lost connection. Times are seconds of the monotonic clock."""

    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    attempts: dict[str, Attempt] = field(default_factory=dict)
    before: set[str] | None = None
    """Files that the sweep before saw, and that have come since."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Folders that the sweep before could not read, and why."""

    def modules(
        self, paths: Iterable[str], known: Mapping[str, KnownFile]
    ) -> dict[str, Mapping[str, str]]:
        """The local modules of each of some files."""
        return {path: plan.modules(path, self.attempts, known) for path in paths}

    def is_own(self, path: str, swept_at: float) -> bool:
        """Whether a file that is to be parsed is new or has changed itself since the last sweep."""
        new = self.before is not None and path not in self.before
        return new or self.fingerprints.changed_since([path], swept_at)

    def note(
        self, path: str, state: State, modules: Mapping[str, str], *, failed: bool = False
    ) -> None:
        """A file has been parsed in this state, here or elsewhere."""
        before = self.attempts.get(path)
        failures = before.failures if before is not None and before.state == state else 0
        self.attempts[path] = Attempt(
            state, modules, time.monotonic(), failures + 1 if failed else 0
        )
