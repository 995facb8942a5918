"""From the records of operations to the rows that are printed, and pages of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flow.wording.moments import took
from flow_cli.output import Column, Format, Output, Row

if TYPE_CHECKING:
    from flow.store.read.page import Page


def row_of(record: Any) -> dict[str, Any]:
    """A named tuple as a row, with the named tuples inside it."""
    return {name: plain(value) for name, value in record._asdict().items()}


def plain(value: Any) -> Any:
    """A value without named tuples, which JSON would write as lists without names."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return row_of(value)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return value


def with_duration(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with `took`, for people: how long it took, once it has ended."""
    return {**row, "took": took(row["started_at"], row["ended_at"]) or None}


def print_page(
    printer: Output, page: Page[Any], rows: Sequence[Row], columns: Sequence[Column], noun: str
) -> None:
    """Print the rows of a page, and how many there are behind it."""
    total = page.total
    printer.table(rows, columns, noun, total.counted if total.exact else None)
    if not total.exact:
        printer.message(
            f"showing {len(rows)} of more than {total.counted} {noun}; --all shows every one"
        )


def print_record(printer: Output, record: Row) -> None:
    """Print one thing. Objects inside it are written as JSON for people too."""
    if printer.format is Format.TEXT:
        record = {name: _for_people(value) for name, value in record.items()}
    printer.record(record)


def _for_people(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
