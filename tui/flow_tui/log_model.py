"""The log of one try as lines that are read when they are needed, however many there are.

Only the places of the lines are kept, eight bytes each. The text of a line is what a terminal would
show in the end: of a progress bar, which goes back to the start of its line again and again, the
last state.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final, NamedTuple

from flow.logs import Logs
from flow.logs.text import readable

STEP: Final = 8 << 20
"""Bytes that are looked through at a time; more come with the next step."""
_LONGEST: Final = 1 << 16
"""Bytes of one line that are shown."""
_AT_ONCE: Final = 1 << 22
"""Bytes that lines may have together to be read at once; of longer ones only what is shown is."""


class Grown(NamedTuple):
    """What a look at a log has found: how many lines it has, and whether there is more to read."""

    lines: int
    more: bool
    anew: bool = False
    """It is another log than before: it has become shorter."""


class LogFile:
    """One log. Not for several threads at once."""

    def __init__(self, place: Logs, address: str) -> None:
        self.place = place
        """Where it is read."""
        self.address = address
        self._starts = array("Q")
        """Where each line starts, in bytes."""
        self._size = 0
        """Bytes that have been looked through."""
        self._ended = True
        """Whether they end with the end of a line."""

    @property
    def lines(self) -> int:
        """How many lines are known."""
        return len(self._starts)

    def grow(self) -> Grown:
        """Look through what has come since, `STEP` bytes at most."""
        anew = self._size > 0 and not any(self.place.read(self.address, self._size - 1))
        if anew:
            self._starts, self._size, self._ended = array("Q"), 0, True
        began = self._size
        for chunk in self.place.read(self.address, self._size):
            if self._ended:
                self._starts.append(self._size)
            ends = (match.end() for match in re.finditer(b"\n", chunk))
            self._starts.extend(self._size + end for end in ends if end < len(chunk))
            self._size += len(chunk)
            self._ended = chunk.endswith(b"\n")
            if self._size - began >= STEP:
                return Grown(self.lines, more=True, anew=anew)
        return Grown(self.lines, more=False, anew=anew)

    def window(self, first: int, count: int) -> list[str]:
        """The texts of lines, as far as there are such."""
        first = max(0, first)
        last = min(first + count, self.lines)
        if first >= last:
            return []
        end = self._starts[last] if last < self.lines else self._size
        bounds = [*self._starts[first:last], end]
        if end - bounds[0] > _AT_ONCE:
            shown = ((start, min(after, start + _LONGEST)) for start, after in pairwise(bounds))
            return [text_of_line(self._bytes(*part)) for part in shown]
        data = self._bytes(bounds[0], end)
        places = [bound - bounds[0] for bound in bounds]
        return [text_of_line(data[start:after][:_LONGEST]) for start, after in pairwise(places)]

    def search(self, letters: str, most: int) -> list[int]:
        """The numbers of the lines that have the letters, `most` at most."""
        pattern = re.compile(re.escape(letters.encode()), _flags(letters))
        return list(islice(self._found(pattern), most))

    def _found(self, pattern: re.Pattern[bytes]) -> Iterator[int]:
        last = -1
        for offset, data in self._pieces():
            for match in pattern.finditer(data):
                line = bisect_right(self._starts, offset + match.start()) - 1
                if line != last:
                    last = line
                    yield line

    def _pieces(self) -> Iterator[tuple[int, bytes]]:
        """The log in pieces of whole lines, each with its place."""
        offset, rest = 0, b""
        for chunk in self.place.read(self.address, 0):
            data = rest + chunk
            cut = data.rfind(b"\n") + 1
            if cut == 0 and len(data) < STEP:
                rest = data
                continue
            cut = cut or len(data)
            yield offset, data[:cut]
            offset, rest = offset + cut, data[cut:]
            if offset >= self._size:
                return
        if rest:
            yield offset, rest

    def _bytes(self, start: int, end: int) -> bytes:
        got = bytearray()
        for chunk in self.place.read(self.address, start):
            got += chunk
            if len(got) >= end - start:
                break
        return bytes(got[: end - start])


def text_of_line(data: bytes) -> str:
    """One line of text without its end; nothing in it drives a terminal."""
    line = data.rstrip(b"\r\n")
    shown = line.rpartition(b"\r")[2] or line.rpartition(b"\r")[0]
    return "".join(readable([shown])).replace("\n", " ").expandtabs()


def _flags(letters: str) -> re.RegexFlag:
    """Letters are compared without case unless one of them is upper case."""
    return re.NOFLAG if any(letter.isupper() for letter in letters) else re.IGNORECASE


class Search(NamedTuple):
    """Lines that fit, and on which of them somebody is; -1: on none yet."""

    letters: str
    lines: Sequence[int]
    at: int = -1

    def after(self, line: int) -> Search:
        """On the first one at a line or after it; from the start where there is none."""
        if not self.lines:
            return self
        at = next((place for place, one in enumerate(self.lines) if one >= line), 0)
        return self._replace(at=at)

    def step(self, by: int) -> Search:
        """On the next or previous one, around the ends."""
        return self._replace(at=(self.at + by) % len(self.lines)) if self.lines else self

    @property
    def pattern(self) -> re.Pattern[str]:
        """What is found in the text of a line."""
        return re.compile(re.escape(self.letters), _flags(self.letters))

    @property
    def line(self) -> int | None:
        """The line that somebody is on."""
        return self.lines[self.at] if 0 <= self.at < len(self.lines) else None

    @property
    def counter(self) -> str:
        """3 of 17."""
        if not self.lines:
            return f"no line has {self.letters!r}"
        return f"{self.at + 1} of {len(self.lines)} lines with {self.letters!r}"
