"""Which files there are in the DAG folders."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from flow.process.archive import ARCHIVE, names_in
from flow.roles.parse import extent
from flow.roles.parse.ignore import NAMES, Ignore

CODE: Final = ".py"
_NOWHERE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""Errors of a link that leads nowhere, and of what has gone since it was listed."""


@dataclass(slots=True)
class Scan:
    """What one look at the DAG folders found."""

    files: dict[str, str] = field(default_factory=dict)
    """DAG folder by absolute path of the file."""
    illegible: list[str] = field(default_factory=list)
    """Paths that are not UTF-8, with the offending bytes escaped."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Why, by what could not be read, mostly folders: nothing there can be called gone."""
    unheeded: dict[str, str] = field(default_factory=dict)
    """What is not heeded, by ignore file that could not be read, wholly or in part."""
    roots: list[str] = field(default_factory=list)
    """DAG folders that are there."""

    def unseen(self, path: str) -> bool:
        """Whether a path lies in a folder that could not be read, or could itself not be told."""
        return any(f"{path}{os.sep}".startswith(folder + os.sep) for folder in self.unreadable)

    def warnings(self) -> dict[str, str]:
        """What somebody should know who wonders why a DAG is there, or is not: by path."""
        gone = {
            path: f"it cannot be read ({why}): its DAGs stay as they are"
            for path, why in self.unreadable.items()
        }
        return gone | self.unheeded

    def passed_over(self, path: str) -> bool:
        """Whether a path lies in a DAG folder that was read: if it is not found, it is ignored."""
        return any(path.startswith(root + os.sep) for root in self.roots)


def scan(folders: Iterable[Path], *, regexp: bool = False) -> Scan:
    """Look for `*.py`, and `*.zip` with Python files at their top, in `folders` and below.

    Not in `__pycache__` and hidden folders, and not what ignore files name (`regexp`: how
    `.airflowignore` is written). Symbolic links are followed; a folder or file that can be reached
    in several ways counts once, by its own name rather than by that of a link. Where more than
    `extent.MOST` folders lie behind a link, none of them counts as read.
    """
    found = Scan()
    visited: set[tuple[int, int]] = set()
    linked: dict[str, str] = {}
    for folder in folders:
        root = os.path.abspath(folder)  # noqa: PTH100 - links stay as the user wrote them
        rules = Ignore(regexp=regexp, unheeded=found.unheeded)
        for path, is_link in _code_files(root, visited, found, rules):
            if is_utf8(path):
                (linked if is_link else found.files).setdefault(path, root)
            else:
                found.illegible.append(os.fsencode(path).decode("utf-8", "backslashreplace"))
    if found.unreadable:  # a link that turned out to lead to too much
        for paths in (found.files, linked):
            for path in [path for path in paths if found.unseen(path)]:
                del paths[path]
    _add_links(found, linked)
    found.files = dict(sorted(found.files.items()))
    return found


def hidden(path: str, folders: Iterable[Path]) -> bool:
    """Whether a scan passes over a path because its name, or that of a folder of its, is hidden."""
    root = _root_of(path, folders)
    return root is not None and any(map(_is_hidden, Path(path).relative_to(root).parts))


def root_of_new(path: str, folders: Iterable[Path], *, regexp: bool = False) -> str | None:
    """The DAG folder with which a scan would find a new file; None: it would not, or only the scan
    can tell, for there are links on the way."""
    root = _root_of(path, folders)
    if root is None or not is_utf8(path):
        return None
    place, rules = root, Ignore(regexp=regexp)
    for part in Path(path).relative_to(root).parts:
        rules = rules.within(place, [n for n in NAMES if Path(place, n).exists()])
        place = f"{place}{os.sep}{part}"
        if Path(place).is_symlink() or rules.ignores(place, folder=place != path):
            return None
    return root


def _root_of(path: str, folders: Iterable[Path]) -> str | None:
    roots = (os.path.abspath(folder) for folder in folders)  # noqa: PTH100
    return next((root for root in roots if path.startswith(root + os.sep)), None)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__"


def is_utf8(path: str) -> bool:
    """Whether a path can be told and stored."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _add_links(found: Scan, linked: dict[str, str]) -> None:
    if not linked:
        return
    targets = {os.path.realpath(path) for path in found.files}
    for path in sorted(linked):
        target = os.path.realpath(path)
        if target not in targets:
            targets.add(target)
            found.files[path] = linked[path]


class _Place(NamedTuple):
    """A folder to look into, its ignore files, and the outermost link that led there, or ""."""

    path: str
    ignore: Ignore
    link: str = ""


def _code_files(
    root: str, visited: set[tuple[int, int]], found: Scan, ignore: Ignore
) -> Iterator[tuple[str, bool]]:
    """Paths of files that may define DAGs, and whether they are links."""
    waiting = [_Place(root, ignore)]
    behind_links: list[_Place] = []
    behind: Counter[str] = Counter()
    while waiting or behind_links:
        folder, outer, link = waiting.pop() if waiting else behind_links.pop()
        if link in found.unreadable:
            continue
        try:
            if _seen(folder, visited):
                continue
            behind[link] += 1
            if link and behind[link] > extent.MOST:
                found.unreadable[link] = f"more than {extent.MOST} folders lie behind this link"
                continue
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            if folder == root or not isinstance(error, FileNotFoundError):
                found.unreadable[folder] = error.strerror or str(error)
            continue
        if folder == root:
            found.roots.append(root)
        rules = outer.within(folder, [entry.name for entry in entries])
        for entry in entries:
            if _is_hidden(entry.name):
                continue
            try:
                is_folder, is_code = entry.is_dir(), _is_code(entry)
            except OSError as error:
                if error.errno not in _NOWHERE:
                    found.unreadable[entry.path] = error.strerror or str(error)
                continue
            if is_folder:
                if rules.ignores(entry.path, folder=True) or _leads_up(entry, root):
                    continue
                if link or not entry.is_symlink():
                    waiting.append(_Place(entry.path, rules, link))
                else:
                    behind_links.append(_Place(entry.path, rules, entry.path))
            elif is_code and not rules.ignores(entry.path, folder=False):
                yield entry.path, entry.is_symlink()


def _leads_up(entry: os.DirEntry[str], root: str) -> bool:
    """Whether a folder is a link to one that the DAG folder itself lies in: a loop."""
    if not entry.is_symlink():
        return False
    target = os.path.realpath(entry.path)
    return f"{os.path.realpath(root)}{os.sep}".startswith(target.rstrip(os.sep) + os.sep)


def _is_code(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a file that may define DAGs. Raises OSError when that cannot be told."""
    if entry.name.endswith(CODE):
        return entry.is_file()
    if not entry.name.endswith(ARCHIVE) or not entry.is_file():
        return False
    status = entry.stat()
    return _has_code(entry.path, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _has_code(archive: str, *signature: int) -> bool:
    """Whether an archive is one of DAG files, not of data; one that is broken is to be told of."""
    try:
        return bool(names_in(archive))
    except FileNotFoundError:
        return False  # gone since it was listed
    except Exception:
        return True  # whatever is wrong with it, its import will say


def _seen(folder: str, visited: set[tuple[int, int]]) -> bool:
    """Whether a folder has been looked at before. Raises OSError when it is not there."""
    status = os.stat(folder)  # noqa: PTH116 - thousands of them
    identity = status.st_dev, status.st_ino
    if identity in visited:
        return True
    visited.add(identity)
    return False
