"""DAG files as they were at a commit, in a scratch folder."""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from flow.errors import UsageError
from flow.ops.checking.changes import fork_point, git, top_of


@contextmanager
def before_change(reference: str, folders: Sequence[Path]) -> Iterator[dict[Path, Path]]:
    """For each folder one that holds what it held where history has parted from a ref.

    A folder that was not there then is empty. The block's end removes them. Raises `UsageError`
    outside of a Git repository, `NotFound` for an unknown ref.
    """
    with tempfile.TemporaryDirectory(prefix="flow-plan-") as scratch:
        found = {}
        for number, folder in enumerate(folders):
            place = Path(scratch, str(number))
            place.mkdir()
            found[folder] = _extract(folder, reference, place)
        yield found


def _extract(folder: Path, reference: str, place: Path) -> Path:
    top = top_of(folder)
    within = os.path.relpath(os.path.realpath(folder), os.path.realpath(top))
    base = fork_point(top, reference)
    inside = place / within
    inside.mkdir(parents=True, exist_ok=True)
    if within != "." and not git(top, "ls-tree", "-d", base, "--", within):
        return inside
    archive = place.with_suffix(".tar")
    git(top, "archive", "--format=tar", f"--output={archive}", base, "--", within)
    try:
        with tarfile.open(archive) as packed:
            # Python has filters from 3.11.4 on; an archive that git has just made needs none.
            if hasattr(tarfile, "tar_filter"):
                packed.extraction_filter = tarfile.tar_filter
            packed.extractall(place)
    except tarfile.TarError as error:
        raise UsageError(
            f"the files of {folder} at {base[:12]} cannot be unpacked: {error}",
            "do without --changed",
        ) from error
    return inside
