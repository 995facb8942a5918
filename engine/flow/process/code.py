"""The hash of the code behind a DAG: its file and the local modules that the file imported.

Modules count by name, not by path, so hosts that keep their code in different folders agree. A file
without modules has the hash of its content.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Mapping
from typing import Final

from flow.process import plain_file

_READ: Final = 256 * 1024


def content_hash(path: str) -> str:
    """SHA-256 of a file's bytes, in hexadecimal.

    Raises OSError when it cannot be read, or is no file of code (`flow.process.plain_file`).
    """
    digest = hashlib.sha256()
    left = plain_file.LARGEST
    with open(path, "rb", buffering=0, opener=plain_file.opener) as file:
        while data := file.read(_READ):
            digest.update(data)
            left -= len(data)
            if left < 0:  # it grows as fast as it is read
                raise plain_file.too_large(path)
    return digest.hexdigest()


def content_or_why(path: str) -> str:
    """The content hash of a file; a word that is none when it cannot be read."""
    try:
        return content_hash(path)
    except OSError as error:
        return unreadable(error)


def unreadable(error: OSError) -> str:
    """What stands for the content of a file that cannot be read."""
    return f"unreadable:{errno.errorcode.get(error.errno or 0, '?')}"


def code_hash(file: str, modules: Mapping[str, str]) -> str:
    """The hash of a file and its modules, from their content hashes (`modules`: name → hash)."""
    if not modules:
        return file
    digest = hashlib.sha256(file.encode())
    for name in sorted(modules):
        digest.update(f"\n{name} {modules[name]}".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()
