"""Where in the user's own files something was written: the file and line of an error message."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import NamedTuple

# Not resolved: the files of frames are named as their modules were imported, links and all.
_PACKAGE = str(Path(__file__).parent.parent)
_INNER = (_PACKAGE + "/", "<frozen ", "<string>")
_MODULE_LEVEL = "<module>"


class Origin(NamedTuple):
    """A line of a file, printed as `file:line`."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def caller() -> Origin:
    """The innermost line on the stack that is not Flow's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_INNER):
            return Origin(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return Origin("<unknown>", 0)


def top_level() -> Origin:
    """The line of the module that is being imported just now, through whatever it calls.

    A DAG that `a.py` makes with a factory of `factories.py` comes from `a.py`; a DAG made while
    `a.py` imports `b.py` comes from `b.py`.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == _MODULE_LEVEL and not code.co_filename.startswith(_INNER):
            return Origin(code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return caller()
