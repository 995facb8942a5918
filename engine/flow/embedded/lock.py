"""One process at a time starts, stops or changes the embedded server."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from flow.embedded import pidfile, postmaster
from flow.embedded.layout import Layout
from flow.errors import DatabaseError

_LIMIT: Final = 360.0
"""Seconds; longer than the longest start, so only a stuck process makes others give up."""


@contextmanager
def held(layout: Layout) -> Iterator[None]:
    """Hold the lock; the holder's end, however it comes, frees it. Raises `DatabaseError`."""
    try:
        descriptor = os.open(layout.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except PermissionError:
        raise pidfile.foreign(layout.root) from None
    try:
        if os.geteuid() == 0:
            # A lock that root makes must also serve roles that run as the server's account.
            owner = layout.root.stat()
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        if not postmaster.wait_until(lambda: _try(descriptor), _LIMIT):
            raise DatabaseError(
                "Another process has been starting or stopping the embedded database for minutes.",
                f"Find it with: fuser {layout.lock}",
            )
        yield
    finally:
        os.close(descriptor)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
