"""DAG files packed into a zip archive: the modules at its top define DAGs, the rest is imported.

An archive with nothing but folders and data at its top is no DAG file.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from typing import Final

ARCHIVE: Final = ".zip"
BROKEN_ARCHIVE: Final = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)
"""Errors of a file that is no archive, not all of one, or one in a form that Python cannot read."""


def names_in(archive: str) -> list[str]:
    """The names of the modules at the top of an archive, in order.

    Raises OSError when the file cannot be read, and one of `BROKEN_ARCHIVE`.
    """
    with zipfile.ZipFile(archive) as opened:
        return sorted(n for n in opened.namelist() if n.endswith(".py") and "/" not in n)


def modules_in(archive: str) -> dict[str, bytes]:
    """The source of each module at the top: `archive/module.py` → bytes; errors as `names_in`.

    What is packed may be far larger than the archive: for processes of users' code only.
    """
    names = names_in(archive)
    with zipfile.ZipFile(archive) as opened:
        return {f"{archive}{os.sep}{name}": opened.read(name) for name in names}
