"""What a file or a folder holds, as figures that are equal when the content is.

Names, contents and where links point to count; owners, permissions and times do not. Only the path
itself is followed if it is a link: what a link within it points to belongs to somebody else.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flow.process.messages import Figures


class _Entry(NamedTuple):
    """One thing in a tree: its name from the top, what it is, and the digest of its content."""

    name: str
    kind: str
    size: int = 0
    digest: bytes = b""


def measure(path: Path) -> Figures | None:
    """The number of files, their bytes, and a digest; None where there is nothing.

    Raises OSError for what cannot be read.
    """
    if not path.exists():
        return None
    whole = hashlib.sha256()
    files = size = 0
    for entry in _entries(path, ""):
        for part in (os.fsencode(entry.name), entry.kind.encode(), entry.digest):
            whole.update(len(part).to_bytes(8) + part)
        files += entry.kind != "folder"
        size += entry.size
    return Figures(count=files, bytes=size, digest=whole.hexdigest())


def _entries(path: Path, name: str) -> Iterator[_Entry]:
    """What is at `path` and below it, in order of name."""
    status = path.lstat() if name else path.stat()
    if stat.S_ISLNK(status.st_mode):
        yield _Entry(name, "link", digest=os.fsencode(path.readlink()))
    elif stat.S_ISDIR(status.st_mode):
        yield _Entry(name, "folder")
        for inner in sorted(os.listdir(path)):  # noqa: PTH208 - names alone are wanted
            yield from _entries(path / inner, f"{name}/{inner}")
    elif stat.S_ISREG(status.st_mode):
        with path.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").digest()
        yield _Entry(name, "file", status.st_size, digest)
    else:  # a socket, a pipe: reading it might never end
        yield _Entry(name, "other")
