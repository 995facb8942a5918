"""Which files there are in the DAG folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Scan:
    """What one look at the DAG folders found."""

    files: dict[str, str] = field(default_factory=dict)
    """DAG folder by absolute path of the file, in order of path."""
    illegible: list[str] = field(default_factory=list)
    """Paths that are not UTF-8, with the offending bytes escaped."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Why, by folder that could not be read: nothing in it can be called gone."""

    def unseen(self, path: str) -> bool:
        """Whether a path lies in a folder that could not be read."""
        return any(path.startswith(folder + os.sep) for folder in self.unreadable)


def scan(folders: Iterable[Path]) -> Scan:
    """Look for `*.py` in `folders` and below, except in `__pycache__` and in hidden folders.

    Symbolic links are followed; a folder that can be reached in two ways counts once.
    """
    found = Scan()
    visited: set[tuple[int, int]] = set()
    for folder in folders:
        root = os.path.abspath(folder)  # noqa: PTH100 - links stay as the user wrote them
        for path in _python_files(root, visited, found.unreadable):
            try:
                path.encode()
            except UnicodeEncodeError:
                found.illegible.append(os.fsencode(path).decode("utf-8", "backslashreplace"))
            else:
                found.files.setdefault(path, root)
    found.files = dict(sorted(found.files.items()))
    return found


def _python_files(
    root: str, visited: set[tuple[int, int]], unreadable: dict[str, str]
) -> Iterator[str]:
    def note(error: OSError) -> None:
        unreadable[os.fsdecode(error.filename)] = error.strerror or str(error)

    for folder, below, names in os.walk(root, onerror=note, followlinks=True):
        if _seen(folder, visited):
            below.clear()
            continue
        below[:] = sorted(name for name in below if _is_code_folder(name))
        for name in names:
            if name.endswith(".py") and not name.startswith("."):
                path = os.path.join(folder, name)  # noqa: PTH118 - thousands of them
                if os.path.isfile(path):  # noqa: PTH113 - a link to nothing is no file
                    yield path


def _seen(folder: str, visited: set[tuple[int, int]]) -> bool:
    try:
        status = os.stat(folder)  # noqa: PTH116 - as above
    except OSError:
        return True  # gone since it was listed
    identity = status.st_dev, status.st_ino
    if identity in visited:
        return True
    visited.add(identity)
    return False


def _is_code_folder(name: str) -> bool:
    return name != "__pycache__" and not name.startswith(".")
