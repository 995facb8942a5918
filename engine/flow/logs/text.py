"""From the bytes of a log to text that may be shown anywhere.

The bytes of a log are whatever a task wrote: text in any encoding, progress bars, control
sequences, a hundred megabytes without a newline. `Readable` turns them into text in which nothing
is lost and nothing drives a terminal:

- What is not UTF-8 is shown as `\\xff`, control characters as `\\x1b`; tabs stay.
- A line ends with a newline, with or without a carriage return. A carriage return by itself, with
  which progress bars go back to the start of their line, ends a line too.
- The last line needs no newline.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import Final

LONGEST_LINE: Final = 1 << 20
"""Characters. A longer line is cut into lines of this length, each but the last ending in `CUT`."""
CUT: Final = "…"

_ENDS_LINE: Final = "\n"
_CONTROLS: Final = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
_DIRECTION_CHANGES: Final = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_ESCAPES: Final = {
    code: chr(code).encode("unicode_escape").decode("ascii")
    for code in [*_CONTROLS, *_DIRECTION_CHANGES]
    if chr(code) not in "\t\n"
}


class Readable:
    """A stream of bytes, piece by piece, as readable text; needs no more memory than one piece."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._returned = False
        """The last character was a carriage return whose meaning the next one decides."""
        self._at_start = True
        """Nothing has been written on the present line."""

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """The text of the next bytes; `final` when there are no more."""
        text = self._decoder.decode(data, final)
        if self._returned and (text or final):
            text = "\r" + text
            self._returned = False
        if text.endswith("\r") and not final:
            text, self._returned = text[:-1], True
        if "\r" in text:
            text = self._without_returns(text)
        if text:
            self._at_start = text.endswith(_ENDS_LINE)
        return text if text.isprintable() else text.translate(_ESCAPES)

    def _without_returns(self, text: str) -> str:
        first, *rest = text.replace("\r\n", "\n").split("\r")
        made = [first]
        at_start = first.endswith(_ENDS_LINE) if first else self._at_start
        for part in rest:
            # Going back to the start of an empty line changes nothing.
            made.append(part if at_start else _ENDS_LINE + part)
            at_start = part.endswith(_ENDS_LINE) if part else True
        return "".join(made)


def readable(pieces: Iterable[bytes]) -> Iterator[str]:
    """A whole log as readable text, piece by piece."""
    stream = Readable()
    for data in pieces:
        if text := stream.feed(data):
            yield text
    if text := stream.feed(b"", final=True):
        yield text


class Lines:
    """Pieces of text put together to lines, for those who look at whole lines."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._begun: list[str] = []
        self._length = 0

    def feed(self, text: str) -> Iterator[str]:
        """The lines that `text` completes, without their ends."""
        first, *rest = text.split(_ENDS_LINE)
        yield from self._add(first)
        for part in rest:
            yield self._take()
            yield from self._add(part)

    def finish(self) -> Iterator[str]:
        """The last line, if it has no end."""
        if self._length:
            yield self._take()

    def _add(self, part: str) -> Iterator[str]:
        while self._length + len(part) > self._longest:
            fitting = self._longest - self._length
            self._begun.append(part[:fitting])
            part = part[fitting:]
            yield self._take() + CUT
        if part:
            self._begun.append(part)
            self._length += len(part)

    def _take(self) -> str:
        line = "".join(self._begun)
        self._begun.clear()
        self._length = 0
        return line


def lines(texts: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in pieces."""
    whole = Lines()
    for text in texts:
        yield from whole.feed(text)
    yield from whole.finish()
