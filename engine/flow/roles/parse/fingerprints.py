"""Content hashes of code files, read again only where a file seems to have changed."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from flow.process.code import code_hash, content_hash, unreadable
from flow.process.plain_file import Signature, signature

_SETTLED: Final = 2.0
"""Seconds after which a file's times tell a change: some file systems count in seconds."""
_CLOSED: Final = {unreadable(OSError(number, "")) for number in (errno.EACCES, errno.EPERM)}
"""What stands for the content of a file that others may read."""


class _Entry(NamedTuple):
    signature: Signature | None
    """None: it cannot be read."""
    hash: str
    since: float
    """When this signature was seen first. Times are of the monotonic clock, in seconds."""
    settled: bool
    """Whether the content is the same as long as the signature is."""
    changed_at: float
    """When a change was noticed; -inf: it has not changed."""

    def differs(self, signature: Signature) -> bool:
        """Whether the file is known not to have a signature."""
        return self.signature != signature and self.hash not in _CLOSED


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
        found: Signature | None = None
        try:
            found = signature(path)
            if before is not None and before.settled and before.signature == found:
                return before.hash
            hashed = content_hash(path)
        except OSError as error:
            found, hashed = None, unreadable(error)
        self._entries[path] = _entry(before, found, hashed)
        return hashed

    def changed_since(self, paths: Iterable[str], moment: float) -> bool:
        """Whether one of some files, as they were looked at last, was seen to change after `moment`
        of the monotonic clock, be it back to what it had been."""
        return any(self._entries[path].changed_at > moment for path in paths)

    def differ(self, signatures: Mapping[str, Signature]) -> bool:
        """Whether one of some files, as it was looked at last, does not have the signature.

        One that this process may not read tells nothing: a child that runs as another user may read
        it all the same.
        """
        return any(self._entries[path].differs(one) for path, one in signatures.items())

    def keep(self, paths: set[str]) -> None:
        """Forget all other files."""
        for path in self._entries.keys() - paths:
            del self._entries[path]


def _entry(before: _Entry | None, found: Signature | None, hashed: str) -> _Entry:
    now = time.monotonic()
    if before is None or before.signature != found:
        since, changed_at = now, now if before else float("-inf")
    else:
        since, changed_at = before.since, before.changed_at if before.hash == hashed else now
    # The clock of a file server may be ahead of ours for ever: then our own tells.
    settled = found is not None and (
        time.time_ns() - max(found[2:]) >= _SETTLED * 1e9 or now - since >= _SETTLED
    )
    return _Entry(found, hashed, since, settled, changed_at)
