"""The part of a log that somebody wants to see: its last lines, or those that match."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from re import Pattern

from flow.logs.text import Lines


class Excerpt:
    """Takes what a log holds at first, then what is added to it, and gives what is to be shown.

    `tail` limits how many lines there are at first. With a `pattern` only whole lines that it is
    found in are shown; without one also the beginning of a line whose end has not come yet.
    """

    def __init__(self, tail: int | None = None, pattern: Pattern[str] | None = None) -> None:
        self._tail = tail
        self._pattern = pattern
        self._lines = Lines()

    def first(self, texts: Iterable[str]) -> Iterator[str]:
        """Of what is there."""
        if self._tail is None:
            for text in texts:
                yield self.more(text)
            return
        kept = deque((line for text in texts for line in self._whole(text)), maxlen=self._tail)
        begun = [] if self._pattern else list(self._lines.finish())
        if begun:
            kept.extend(begun)
            yield "\n".join(kept)
        else:
            yield "".join(f"{line}\n" for line in kept)

    def more(self, text: str) -> str:
        """Of what has been added."""
        if self._pattern is None:
            return text
        return "".join(f"{line}\n" for line in self._whole(text))

    def last(self) -> str:
        """Of what is left when nothing will be added any more."""
        if self._pattern is None:
            return ""
        return "".join(f"{line}\n" for line in self._lines.finish() if self._pattern.search(line))

    def _whole(self, text: str) -> Iterator[str]:
        """The lines that `text` completes, as far as they match."""
        for line in self._lines.feed(text):
            if self._pattern is None or self._pattern.search(line):
                yield line
