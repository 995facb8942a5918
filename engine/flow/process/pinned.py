"""Waiting for the code that a run is pinned to, in the process of a try.

The code is compared before anything of it is imported, because what another version does when it
is imported cannot be undone, and once more afterwards, for a deploy may come in between.
"""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import Final

from flow.enumeration import few
from flow.errors import FlowError
from flow.process.code import code_hash, content_or_why
from flow.process.pin import Pin

_LOOK_AGAIN: Final = 0.5
"""Seconds between two looks at the files."""
_SHOWN: Final = 12
"""Digits of a hash in a text for people."""
_NAMED: Final = 3
"""Local modules that are named in such a text."""

_log = logging.getLogger("flow.task")


class CodeMismatch(FlowError):
    """The code on this host is not that of the version a run is pinned to."""

    code = "code_mismatch"

    def __init__(self, message: str, hint: str = "", *, found: str = "") -> None:
        super().__init__(message, hint)
        self.found = found
        """The hash of the code that is there."""


def await_code(file: str, pin: Pin, version: int) -> None:
    """Return when the pinned code is there; look again for `pin.wait` seconds.

    Returns at the end of that time too if the file itself is gone, which is told when it is
    loaded. Raises `CodeMismatch`.
    """
    until = time.monotonic() + pin.wait
    told = False
    while (found := hash_now(file, pin)) != pin.code_hash:
        left = until - time.monotonic()
        if left <= 0:
            if not Path(file).exists():
                return
            raise _mismatch(file, pin, version, found)
        if not told:
            told = True
            _log.warning(
                "%s is not the code of version %d; waiting for it for up to %g s",
                _files(file, pin), version, pin.wait,
            )  # fmt: skip
        time.sleep(min(_LOOK_AGAIN, left))


def require_code(file: str, pin: Pin, version: int, content: str | None = None) -> None:
    """Raise `CodeMismatch` unless the pinned code is there now.

    `content` is the content hash of the file as it was imported, if that is known.
    """
    found = hash_now(file, pin, content)
    if found != pin.code_hash:
        raise _mismatch(file, pin, version, found)


def hash_now(file: str, pin: Pin, content: str | None = None) -> str:
    """The code hash of a file and the modules of the pinned version, as they are on this host."""
    modules = {name: content_or_why(path) for name, path in pin.modules.items()}
    return code_hash(content or content_or_why(file), modules)


def _mismatch(file: str, pin: Pin, version: int, found: str) -> CodeMismatch:
    return CodeMismatch(
        f"{_files(file, pin)} has code {found[:_SHOWN]}, and the run is pinned to version "
        f"{version} with code {pin.code_hash[:_SHOWN]}",
        "put that code back, or let the run go on with the latest: flow clear --version latest",
        found=found,
    )


def _files(file: str, pin: Pin) -> str:
    """The DAG file and the first of its local modules that a person would look at."""
    names = sorted(name for name, path in pin.modules.items() if os.path.exists(path))  # noqa: PTH110 - strings
    return f"{file} (with {few(names, _NAMED)})" if names else file
