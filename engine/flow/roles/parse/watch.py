"""Hearing of changes in the DAG folders, so that nobody waits for the next sweep.

A thread waits for the kernel's news and rings a bell, which belongs in the loop's selector. It says
at which paths something has happened, not what. What the kernel does not tell (changes on
other hosts of a shared folder, folders beyond the limit of watches) is left to the slow sweep.
Links that lead to more folders than can be watched are left out; the rest is watched as it is then,
and anew when a folder has come. What has changed before the kernel listens is not heard of, so the
first news is that it listens, at the folders themselves: they are to be looked at once more.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import watchfiles

from flow.roles.bell import Bell
from flow.roles.parse.extent import measure
from flow.roles.parse.folders import is_utf8

# It would tell of each change, of which most are nobody's business.
logging.getLogger(watchfiles.__name__).setLevel(logging.WARNING)

_STEP: Final = 50
"""Milliseconds of silence after which news are told."""
_DEBOUNCE: Final = 200
"""Milliseconds after which they are told without silence."""
_UNHEARD: Final = frozenset({"__pycache__", ".git", ".hg", ".svn", ".venv", "node_modules"})
"""Folders whose changes are nobody's code."""

_UNHEARD_OF: Final = "changes are not heard of, only found every parse.interval"
_TOO_MANY: Final = "here are, or behind this link, more folders than can be watched"

_Identity = tuple[int, int]


class _End:
    """The event that ends watchfiles' listening. It is asked for as soon as that listens."""

    def __init__(self, stop: threading.Event, listens: Callable[[], None]) -> None:
        self._stop = stop
        self._listens: Callable[[], None] | None = listens

    def is_set(self) -> bool:
        listens, self._listens = self._listens, None
        if listens is not None:
            listens()
        return self._stop.is_set()


class Watch:
    """News of some folders. Readable when something has changed; a missing folder is no error."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._bell = Bell()
        self._changed: set[str] = set()
        self._lock = threading.Lock()
        self._watched: dict[Path, _Identity] = {}
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None
        self._failed = False
        self._left_out: frozenset[str] = frozenset()
        self._stale = False
        self.warnings: Mapping[str, str] = {}
        """Of what there will be no news, by path, and why."""

    def fileno(self) -> int:
        return self._bell.fileno()

    def take(self) -> set[str]:
        """The paths at which something has changed since the last time."""
        with self._lock:
            changed, self._changed = self._changed, set()
            if changed:
                self._bell.silence()
        return changed

    def renew(self) -> None:
        """Watch the folders that are there now; a folder that was replaced is another one."""
        present = {folder: one for folder in self._folders if (one := _identity(folder))}
        alive = self._thread is not None and self._thread.is_alive()
        same = present == self._watched and not self._stale
        if same and (alive or self._failed or not present):
            return
        self._end()
        self._watched, self._stale = present, False
        if present:
            self._stop = threading.Event()
            self._thread = threading.Thread(
                target=self._listen, args=(list(present), self._stop), name="watch", daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Watch no more. May be called twice."""
        self._end()
        self._bell.close()

    def _end(self) -> None:
        if self._thread is not None and self._stop is not None:
            self._stop.set()
            self._thread.join()
        self._thread = self._stop = None

    def _listen(self, folders: list[Path], stop: threading.Event) -> None:
        extent = measure([str(folder) for folder in folders], stop.is_set)
        if stop.is_set():
            return
        self._left_out = frozenset(extent.left_out)
        self._warn(dict.fromkeys(extent.left_out, f"{_UNHEARD_OF}: {_TOO_MANY}"), folders)
        whole = not extent.left_out
        try:
            changes = watchfiles.watch(
                *(folders if whole else filter(is_utf8, extent.folders)),
                recursive=whole,
                watch_filter=lambda change, path: heard(path),
                debounce=_DEBOUNCE,
                step=_STEP,
                stop_event=_End(stop, lambda: self._tell(set(map(str, folders)))),
                rust_timeout=60_000,
                raise_interrupt=False,
                ignore_permission_denied=True,
            )
            for some in changes:
                self._hear({path for _, path in some})
        except (OSError, RuntimeError) as error:
            if not whole and isinstance(error, FileNotFoundError):
                self._stale = True  # a folder has gone since it was measured
                return
            # Without news there is still the sweep.
            self._failed = True
            self._warn({str(one): f"{_UNHEARD_OF}: {error}" for one in folders}, folders)

    def _warn(self, warnings: Mapping[str, str], folders: Sequence[Path]) -> None:
        """Let the next look at the folders tell of it, at once."""
        if warnings != self.warnings:
            self.warnings = warnings
            self._tell(set(map(str, folders)))

    def _hear(self, paths: set[str]) -> None:
        if self._left_out:
            # Folders are watched one by one, so a new one is not yet.
            self._stale |= any(path in self._left_out or os.path.isdir(path) for path in paths)  # noqa: PTH112
        self._tell(paths)

    def _tell(self, paths: set[str]) -> None:
        with self._lock:
            if paths and not self._changed:
                self._bell.ring()
            self._changed |= paths


def heard(path: str) -> bool:
    """Whether a change at `path` may be one of code."""
    return _UNHEARD.isdisjoint(Path(path).parts)


def _identity(folder: Path) -> _Identity | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
