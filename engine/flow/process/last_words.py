"""What a dying import has printed of the place it had reached (`flow.process.import_limits`).

It stands at the end of the file's own output, which may be any text at all: what looks like it is
believed, and costs a wrong line at worst.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from flow.process.trace import OWN

_BEGIN: Final = re.compile(
    r"^(?:Fatal Python error: [^\n]*\n\n)?Stack \(most recent call first\):\n", re.MULTILINE
)
_FRAME: Final = re.compile(r'^  File "(?P<file>[^"\n]*)", line (?P<line>\d{1,9}) in ')


class LastWords(NamedTuple):
    """The output of an import without its last stack, and the user's part of that."""

    output: str
    stack: str | None
    line: int | None
    """Of the DAG file."""


def last_words(output: str, file: str) -> LastWords:
    """Tell a file's own output from what its process has printed in dying."""
    begins = list(_BEGIN.finditer(output))
    if not begins:
        return LastWords(output, None, None)
    begin = begins[-1]
    frames = []
    for text in output[begin.end() :].splitlines():
        frame = _FRAME.match(text)
        if frame is None:
            break
        if not frame["file"].startswith(OWN):
            frames.append((text, frame["file"], int(frame["line"])))
    line = next((line for _, place, line in frames if place == file), None)
    stack = begin[0] + "\n".join(text for text, _, _ in frames) if frames else None
    return LastWords(output[: begin.start()].rstrip(), stack, line or None)
