"""Which files have changed since a point in the history of a Git repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from flow.errors import NotFound, UsageError


def changed_files(reference: str, folders: Iterable[Path]) -> frozenset[str]:
    """Files of the repositories that `folders` lie in, absolute and without links, that differ
    from where their history parted from `reference`: committed or not, untracked and deleted ones.

    Raises `UsageError` outside of a repository and without Git, `NotFound` for an unknown ref.
    """
    found: set[str] = set()
    for top in sorted({top_of(folder) for folder in folders}):
        base = fork_point(top, reference)
        differing = git(top, "diff", "--name-only", "--no-renames", "-z", base, "--")
        untracked = git(top, "ls-files", "--others", "--exclude-standard", "-z")
        for name in (*differing.split("\0"), *untracked.split("\0")):
            if name:
                found.add(os.path.join(os.path.realpath(top), name))  # noqa: PTH118
    return frozenset(found)


def top_of(folder: Path) -> str:
    """The root of the repository that a folder lies in. Raises `UsageError` outside of one."""
    ended = _run(str(folder), "rev-parse", "--show-toplevel")
    if ended.returncode:
        raise UsageError(
            f"{folder} is not in a Git repository, so nobody knows what has changed",
            "do without --changed",
        )
    return ended.stdout.removesuffix("\n")


def fork_point(top: str, reference: str) -> str:
    """The commit where history has parted from a ref; of a shallow clone without it the ref itself.

    Raises `NotFound` for an unknown ref.
    """
    named = _run(
        top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}"
    )
    if named.returncode:
        raise NotFound(
            f"the repository {top} has no commit {reference!r}",
            "name a branch, tag or commit that was fetched: --changed origin/main",
        )
    commit = named.stdout.strip()
    forked = _run(top, "merge-base", commit, "HEAD")
    return forked.stdout.strip() if forked.returncode == 0 else commit


def git(top: str, *arguments: str) -> str:
    """What a Git command prints. Raises `UsageError` with what it says when it fails."""
    ended = _run(top, *arguments)
    if ended.returncode:
        raise UsageError(
            f"git {arguments[0]} failed in {top}: {' '.join(ended.stderr.split())}",
            "do without --changed",
        )
    return ended.stdout


def _run(folder: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command: Sequence[str] = ("git", "-C", folder, *arguments)
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
    except FileNotFoundError:
        raise UsageError(
            "there is no program git, which knows what has changed",
            "install it, or do without --changed",
        ) from None
