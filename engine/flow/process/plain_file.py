"""Opening files that are other people's: where code was, anything may be a moment later.

A pipe blocks whoever opens it, a device has no end, and a file can be larger than all memory.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

Signature = tuple[int, int, int, int]
"""By which a change of a file is seen without reading it."""

LARGEST: Final = 256 * 1024 * 1024
"""Bytes that a file of code, or an archive of such files, may have."""


def opener(path: str, flags: int) -> int:
    """For `open`: a descriptor of a plain file of at most `LARGEST` bytes, without waiting.

    Raises OSError for whatever else is there.
    """
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        require(os.fstat(descriptor), path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def require(status: os.stat_result, path: str) -> None:
    """Raise OSError unless `status` is that of a plain file of at most `LARGEST` bytes."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a plain file", path)
    if status.st_size > LARGEST:
        raise too_large(path)


def signature(path: str) -> Signature:
    """The signature of a plain file. Raises OSError as `opener` does."""
    status = os.stat(path)  # noqa: PTH116 - of thousands of files
    require(status, path)
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def too_large(path: str) -> OSError:
    """The error of a file that is larger than `LARGEST`."""
    return OSError(errno.EFBIG, f"larger than {LARGEST >> 20} MiB", path)
