"""DAG files packed into a zip archive: the modules at its top define DAGs, the rest is imported.

An archive with nothing but folders and data at its top is no DAG file.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Final

from flow.process import plain_file

ARCHIVE: Final = ".zip"
_LONGEST_LIST: Final = 8 * 1024 * 1024
"""Bytes of an archive's list of its own files, some 100,000 of them: it is read as a whole."""


def names_in(archive: str) -> list[str]:
    """The names of the modules at the top of an archive, in order.

    Raises OSError when the file cannot be read, and almost anything when it is no archive, not all
    of one, or one that was made to do harm.
    """
    with _opened(archive) as opened:
        return _at_top(opened)


def modules_in(archive: str) -> dict[str, bytes]:
    """The source of each module at the top: `archive/module.py` → bytes; errors as `names_in`.

    What is packed may be far larger than the archive: for processes of users' code only.
    """
    with _opened(archive) as opened:
        return {f"{archive}{os.sep}{name}": _source(opened, name) for name in _at_top(opened)}


@contextmanager
def _opened(archive: str) -> Iterator[zipfile.ZipFile]:
    with (
        open(archive, "rb", opener=plain_file.opener) as file,
        zipfile.ZipFile(_Bounded(file)) as opened,
    ):
        yield opened


def _at_top(opened: zipfile.ZipFile) -> list[str]:
    return sorted(n for n in opened.namelist() if n.endswith(".py") and "/" not in n)


def _source(opened: zipfile.ZipFile, name: str) -> bytes:
    """What is packed under a name, read in pieces: `_Bounded` has a limit for each."""
    source = BytesIO()
    with opened.open(name) as packed:
        shutil.copyfileobj(packed, source)
    return source.getvalue()


class _Bounded:
    """A file of which no more than the longest list is read at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable
        self._file = file

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(min(size, _LONGEST_LIST + 1) if size >= 0 else _LONGEST_LIST + 1)
        if len(data) > _LONGEST_LIST:
            raise zipfile.BadZipFile(
                f"its list of files is larger than {_LONGEST_LIST >> 20} MiB: pack fewer files"
            )
        return data
