"""What a DAG processor knows of the files, from one sweep to the next."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from flow.roles.parse import plan
from flow.roles.parse.fingerprints import Fingerprints
from flow.roles.parse.plan import Attempt, State
from flow.store.dag_files import KnownFile

_MOST_CHANGES: Final = 5
"""Imports in a row of a file that changes meanwhile, before what it defines is stored anyway."""


@dataclass(slots=True)
class Memory:
    """Outlives a lost connection. Times are seconds of the monotonic clock."""

    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    attempts: dict[str, Attempt] = field(default_factory=dict)
    before: set[str] | None = None
    """Files that the sweep before saw, or saw before it could not look, and those come since."""
    warnings: dict[str, str] = field(default_factory=dict)
    """What was told last of what is wrong with the folders, by path."""
    warned_by: int | None = None
    """The row of a process with which that is stored."""
    _changes: dict[str, int] = field(default_factory=dict)
    """How often in a row a file has changed while it was imported."""

    def note_import(self, path: str, *, changed: bool) -> None:
        """A file has been imported, and has changed meanwhile or not."""
        self._changes[path] = self._changes.get(path, 0) + 1 if changed else 0

    def is_restless(self, path: str) -> bool:
        """Whether a file changes whenever it is imported: it would be imported without end."""
        return self._changes.get(path, 0) >= _MOST_CHANGES

    def keep(self, paths: Collection[str]) -> None:
        """Forget all other files."""
        self.attempts = {path: one for path, one in self.attempts.items() if path in paths}
        self._changes = {path: n for path, n in self._changes.items() if n and path in paths}

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
