"""Content hashes of code files, read again only where a file seems to have changed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from flow.process.code import code_hash, content_hash, unreadable

_SETTLED: Final = 2 * 10**9
"""Nanoseconds after which a file's times tell a change: some file systems count in seconds."""

_Signature = tuple[int, int, int, int]


class _Entry(NamedTuple):
    signature: _Signature | None
    """None: to be read again whatever the file's times say."""
    hash: str
    changed_at: float
    """When a change was noticed, on the monotonic clock; -inf: it has not changed."""


class Fingerprints:
    """A memory of content hashes, by path."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    def code(self, path: str, modules: Mapping[str, str]) -> str:
        """The code hash of a file and its modules (name → path), as they are now."""
        of_modules = {name: self.content(where) for name, where in modules.items()}
        return code_hash(self.content(path), of_modules)

    def content(self, path: str) -> str:
        """The content hash of a file; a word that is none when it cannot be read."""
        before = self._entries.get(path)
        try:
            signature = _signature(path)
            if before is not None and before.signature == signature:
                return before.hash
            found = content_hash(path)
        except OSError as error:
            signature, found = None, unreadable(error)
        if signature is not None and time.time_ns() - max(signature[2:]) < _SETTLED:
            signature = None  # it may change again without a sign
        changed_at = float("-inf")
        if before is not None:
            changed_at = before.changed_at if before.hash == found else time.monotonic()
        self._entries[path] = _Entry(signature, found, changed_at)
        return found

    def changed_since(self, paths: Iterable[str], moment: float) -> bool:
        """Whether one of some files, as they were looked at last, was seen to change after `moment`
        of the monotonic clock."""
        return any(self._entries[path].changed_at > moment for path in paths)

    def keep(self, paths: set[str]) -> None:
        """Forget all other files."""
        for path in self._entries.keys() - paths:
            del self._entries[path]


def _signature(path: str) -> _Signature:
    status = os.stat(path)  # noqa: PTH116 - thousands of them
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
