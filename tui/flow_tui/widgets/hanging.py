"""Lines of which those that are too long go on below their own text."""

from __future__ import annotations

import re
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

_HEAD: Final = re.compile(r"( *)(\S(?:\S| (?! )){0,23} {2,}(?=\S))?")
"""What a line begins with: its indentation, and a name with its value in a column of its own."""
_INWARDS: Final = 2
"""Columns of the terminal by which the rest of a line without a name stands further in."""
_LEAST: Final = 20
"""Columns that the rest of a line has at least, wherever its text begins."""


class Hanging:
    """A text for a widget, folded to whatever width that has."""

    def __init__(self, text: Text) -> None:
        self.text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.split("\n", allow_blank=True):
            yield from folded(line, options.max_width, console)


def folded(line: Text, width: int, console: Console) -> list[Text]:
    """One line as those that it takes at a width."""
    first = line.wrap(console, width, overflow="fold")[0]
    rest = line[_end_of(line.plain, len(first.plain)) :]
    if not rest.plain:
        return [first]
    inwards = max(0, min(_inwards(line.plain), width - _LEAST))
    more = rest.wrap(console, width - inwards, overflow="fold")
    return [first, *(Text(" " * inwards) + one for one in more)]


def _end_of(text: str, length: int) -> int:
    """Where the rest begins, after the space at which the line was folded."""
    return length + len(text[length:]) - len(text[length:].lstrip(" "))


def _inwards(text: str) -> int:
    head = _HEAD.match(text)
    assert head is not None  # it fits anything
    return len(head.group()) if head.group(2) else len(head.group(1)) + _INWARDS
