"""Which files a change at some path concerns, told without a look at all the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from flow.process.archive import ARCHIVE
from flow.roles.parse import folders, ignore
from flow.roles.parse.folders import Scan


class Reach:
    """The DAG files of some folders, and which of them read which local module."""

    def __init__(self, places: Sequence[Path], *, regexp: bool = False) -> None:
        self._places = places
        self._regexp = regexp
        self._readers: dict[str, set[str]] = {}

    def renew(self, modules: Mapping[str, Mapping[str, str]]) -> None:
        """Learn the local modules of all files: file → name → path."""
        self._readers = {}
        for file, found in modules.items():
            self.note(file, found)

    def note(self, file: str, modules: Mapping[str, str]) -> None:
        """Learn the local modules of one file."""
        for path in modules.values():
            self._readers.setdefault(path, set()).add(file)

    def of(self, paths: Iterable[str], seen: Scan) -> tuple[set[str], bool]:
        """The files to look at because of changes at `paths`; a new one is added to `seen`.

        And whether these are all. Else only a look at the folders can tell: a folder has come or
        gone, or a file has gone; or links, archives and ignore files have a part in it.
        """
        found: set[str] = set()
        complete = True
        for path in paths:
            own = self._own(path, seen)
            complete = complete and own is not None
            found |= self._readers_of(path) & seen.files.keys()
            found |= own or set()
        return found, complete

    def _readers_of(self, path: str) -> set[str]:
        """By the name that it was heard by, and by the one that imports know."""
        real = os.path.realpath(path)
        return self._readers.get(path, set()) | self._readers.get(real, set())

    def _own(self, path: str, seen: Scan) -> set[str] | None:
        """The file itself, if it is one; None: the folders have to be looked at."""
        name = os.path.basename(path)  # noqa: PTH119 - of thousands of changes at a time
        if name in ignore.NAMES:
            return None
        if folders.hidden(path, self._places):
            return set()
        if not os.path.isfile(path) or os.path.islink(path):  # noqa: PTH113, PTH114
            return None
        if path in seen.files:
            return {path}
        if name.endswith(ARCHIVE):
            return None
        if not name.endswith(folders.CODE):
            return set()
        root = folders.root_of_new(path, self._places, regexp=self._regexp)
        if root is None:
            return None
        seen.files[path] = root
        return {path}
