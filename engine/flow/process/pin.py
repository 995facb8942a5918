"""What a try with pinned code must find: the code of the version that its run is pinned to."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec


class Pin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The code of a version, as it has to be on this host."""

    code_hash: str
    """Of the DAG file and `modules` (`flow.process.code`)."""
    modules: dict[str, str] = {}
    """Local modules that the version imported: name → absolute path on this host."""
    wait: float = 0.0
    """Seconds that a try waits for this code before it ends as a mismatch."""


def inside(modules: Mapping[str, str], root: str) -> dict[str, str]:
    """Absolute paths as they are within the DAG folder `root`, so that it may lie elsewhere.

    The paths may go by the folder's own name or by the one without links. What is outside of it
    stays as it is.
    """
    starts = tuple(one.rstrip(os.sep) + os.sep for one in (root, os.path.realpath(root)) if root)
    return {
        name: next((path[len(start) :] for start in starts if path.startswith(start)), path)
        for name, path in modules.items()
    }


def on_this_host(modules: Mapping[str, str], root: str) -> dict[str, str]:
    """The opposite of `inside`: absolute paths for a DAG folder that is at `root` here."""
    return {name: os.path.join(root, path) for name, path in modules.items()}  # noqa: PTH118 - keeps absolute ones
