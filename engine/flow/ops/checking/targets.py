"""Which DAG files a check is about."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from flow.errors import NotFound, UsageError
from flow.ops.checking import rules
from flow.ops.checking.findings import Finding
from flow.ops.checking.rules import finding
from flow.process.archive import ARCHIVE
from flow.process.root import root_of
from flow.roles.parse.folders import CODE, Scan, scan


class Target(NamedTuple):
    """A DAG file and its DAG folder, absolute."""

    file: str
    root: str


class Targets(NamedTuple):
    """The files, in order of name, and what could not be looked at."""

    files: list[Target]
    unreadable: list[Finding]


def targets(paths: Sequence[Path], folders: Sequence[Path], *, regexp: bool) -> Targets:
    """The DAG files that paths mean, as the DAG processor finds them in `folders`.

    A folder inside a DAG folder means the files in it, one around DAG folders means these, and any
    other one is a DAG folder itself. A file is meant also where an ignore file names it. Raises
    `NotFound` for a path that is not there.
    """
    roots = [Path(os.path.abspath(folder)) for folder in folders]  # noqa: PTH100 - links stay
    files: dict[str, str] = {}
    unreadable: list[Finding] = []
    for path in paths:
        if not path.exists():
            raise NotFound(
                f"there is no file or folder {path}", "name DAG files or folders: flow check dags"
            )
        place = Path(os.path.abspath(path))  # noqa: PTH100
        if place.is_dir():
            for root in _roots_of(place, roots):
                seen = scan([root], regexp=regexp)
                files |= {file: root for file, root in seen.files.items() if _in(file, place)}
                unreadable += _unreadable(seen, place)
        elif place.suffix in (CODE, ARCHIVE):
            files[str(place)] = root_of(str(place), roots) or str(place.parent)
        else:
            raise UsageError(f"{path} is no DAG file", "DAG files end in .py or .zip")
    return Targets([Target(*one) for one in sorted(files.items())], unreadable)


def _roots_of(place: Path, roots: Sequence[Path]) -> list[Path]:
    """The DAG folders that have to be looked through for what is in a folder."""
    outer = root_of(str(place), roots)
    if outer:
        return [Path(outer)]
    return [root for root in roots if root.is_relative_to(place) and root.is_dir()] or [place]


def _in(file: str, place: Path) -> bool:
    return Path(file).is_relative_to(place)


def _unreadable(seen: Scan, place: Path) -> Iterator[Finding]:
    for folder, why in seen.unreadable.items():
        if _in(folder, place):
            yield finding(rules.UNREADABLE, folder, f"the folder cannot be read: {why}")
    for file, why in seen.unheeded.items():
        if _in(file, place):
            yield finding(rules.UNREADABLE, file, why)
    for file in seen.illegible:
        if _in(file, place):
            yield finding(rules.UNREADABLE, file, "the name is not UTF-8", hint="rename the file")
