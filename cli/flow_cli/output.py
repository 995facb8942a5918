"""The one object through which commands print.

The result of a command goes to stdout: a table or lines for people, drawn on a terminal and plain
in a pipe, or JSON. Everything else (messages, warnings, how many rows there are) goes to stderr.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, TextIO

from flow.wording.cells import json_text, printable, text_of
from flow.wording.layout import Cells, aligned, blocks
from flow_cli.progress import Advance, progress_bar

Row = Mapping[str, object]


class Format(StrEnum):
    """The forms of a result."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"


class Column(NamedTuple):
    """One column of a table for people: which field of the rows, and how it looks.

    `style` gives the rich style of a cell from its text. A `spare` one is left out where a terminal
    is too narrow for all.
    """

    field: str
    heading: str = ""
    right: bool = False
    style: Callable[[str], str] | None = None
    spare: bool = False

    @property
    def title(self) -> str:
        """The heading; by default the name of the field."""
        return (self.heading or self.field.replace("_", " ")).upper()


class Output:
    """Prints results in the format that the command line asked for."""

    def __init__(
        self, format: Format = Format.TEXT, out: TextIO | None = None, err: TextIO | None = None
    ) -> None:
        self.format = format
        self.out = out or sys.stdout
        self.err = err or sys.stderr

    def streams(self, every: bool) -> bool:
        """Whether a list may be printed while it is read: `every` row, each for itself."""
        return every and self.format is Format.JSONL

    def table(
        self, rows: Iterable[Row], columns: Sequence[Column], noun: str, total: int | None = None
    ) -> None:
        """Print a list. `noun` says what the rows are; `total` how many there are in all.

        JSON has every field of the rows; the columns are for people.
        """
        if self.format is Format.JSONL:
            shown = self._json_lines(rows)
        else:
            listed = list(rows)
            shown = len(listed)
            if self.format is Format.JSON:
                self._json(listed)
            elif listed:
                self._text_table(listed, columns)
        if total is not None and total > shown:
            self.message(f"showing {shown} of {total} {noun}; --all shows every one")
        elif not shown and self.format is Format.TEXT:
            self.message(f"no {noun}")

    def record(self, row: Row) -> None:
        """Print one thing: a field a line, or one JSON object."""
        if self.format is not Format.TEXT:
            self._json_document(row)
            return
        headings = [field.replace("_", " ").upper() for field in row]
        texts = [text_of(value) for value in row.values()]
        self._lines(blocks(Cells(headings, [texts], [False] * len(texts))))

    def lines(self, texts: Sequence[str], row: Row) -> None:
        """Print a short result: lines for people, or the JSON object that says the same."""
        if self.format is Format.TEXT:
            self._lines([printable(text) for text in texts])
        else:
            self._json_document(row)

    def raw(self, text: str, row: Row) -> None:
        """Print a value as it stands, so that a script gets all of it, or a JSON object.

        A terminal gets it line by line, without what it would obey.
        """
        if self.format is not Format.TEXT:
            self._json_document(row)
        elif self.out.isatty():
            self._lines([printable(line) for line in text.splitlines()])
        else:
            self.out.write(text if text.endswith("\n") else text + "\n")

    def message(self, text: str) -> None:
        """Tell the person at the terminal something that is not the result."""
        self.out.flush()
        self.err.writelines(f"{printable(line)}\n" for line in text.split("\n"))

    def warning(self, text: str) -> None:
        """Tell the person at the terminal that something needs their attention."""
        self.message(f"Warning: {text}")

    def progress(self, label: str, total: int) -> AbstractContextManager[Advance]:
        """Show how far long work has come; inside, call with how many of `total` are done."""
        return progress_bar(self.err, label, total)

    def _text_table(self, rows: Sequence[Row], columns: Sequence[Column]) -> None:
        cells = Cells(
            [column.title for column in columns],
            [[text_of(row[column.field]) for column in columns] for row in rows],
            [column.right for column in columns],
            [column.spare for column in columns],
            [any(isinstance(row[column.field], datetime) for row in rows) for column in columns],
        )
        if self.out.isatty():
            from flow_cli.terminal import draw_table

            left_out = draw_table(self.out, cells, {one.title: one.style for one in columns})
            if left_out:
                self.message(f"left out for want of width: {', '.join(left_out)}")
        else:
            self._lines(aligned(cells))

    def _lines(self, lines: Sequence[str]) -> None:
        if self.out.isatty():
            from flow_cli.terminal import draw_lines

            draw_lines(self.out, lines)
        else:
            self.out.writelines(f"{line}\n" for line in lines)

    def _json(self, document: object) -> None:
        self.out.write(json_text(document, self.out, indent=2) + "\n")

    def _json_document(self, row: Row) -> None:
        indent = 2 if self.format is Format.JSON else None
        self.out.write(json_text(dict(row), self.out, indent) + "\n")

    def _json_lines(self, rows: Iterable[Row]) -> int:
        count = 0
        for row in rows:
            self.out.write(json_text(dict(row), self.out) + "\n")
            count += 1
        return count
