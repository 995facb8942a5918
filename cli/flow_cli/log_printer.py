"""Printing logs as they come: pieces of readable text from one or several sources.

With labels every line begins with that of its source. A piece may end in the middle of a line; when
another source speaks before the rest has come, the line is broken there and goes on below, marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TextIO

from flow.wording.cells import width_of
from flow.wording.layout import padded
from flow.wording.looks import can_write

GOES_ON: Final = "... "
_WIDEST_LABEL: Final = 40


class LogPrinter:
    """Writes to one stream. `labels` are those known ahead, so that texts stand below each other.

    Without any there is one source, and its text is printed as it is.
    """

    def __init__(self, stream: TextIO, labels: Sequence[str] = ()) -> None:
        self._stream = stream
        self._labelled = bool(labels)
        self._border = " │ " if can_write("│", stream.encoding or "utf-8") else " | "
        self._width = 0
        self.expect(labels)
        self._open: str | None = None
        """The source whose line has not ended."""
        self._broken: set[str] = set()
        """Sources whose line was broken and goes on."""

    def expect(self, labels: Sequence[str]) -> None:
        """Leave room for these labels too."""
        widest = max((width_of(label) for label in labels), default=0)
        self._width = max(self._width, min(widest, _WIDEST_LABEL))

    def write(self, label: str, text: str) -> None:
        """Print the next piece of a source's text."""
        if self._open not in (None, label):
            self.end_line()
        if self._labelled:
            text = self._with_labels(label, text)
        elif text:
            self._open = None if text.endswith("\n") else label
        self._stream.write(text)
        self._stream.flush()

    def end_line(self) -> None:
        """End the line that is open, before something else is printed."""
        if self._open is not None:
            self._stream.write("\n")
            self._broken.add(self._open)
            self._open = None

    def close(self) -> None:
        """End the last line."""
        self.end_line()
        self._stream.flush()

    def _with_labels(self, label: str, text: str) -> str:
        made = []
        for line in text.splitlines(keepends=True):
            if self._open != label:
                made.append(padded(label, self._width) + self._border)
                if label in self._broken:
                    self._broken.discard(label)
                    made.append(GOES_ON)
            made.append(line)
            self._open = None if line.endswith("\n") else label
        return "".join(made)
