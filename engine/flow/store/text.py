"""Text from user code, made fit for a column."""

from __future__ import annotations


def storable(text: str) -> str:
    """The text with what PostgreSQL cannot hold (NUL, halves of surrogate pairs) escaped."""
    escaped = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return escaped.replace("\0", r"\x00")


def storable_or_none(text: str | None) -> str | None:
    """As `storable`; None stays None."""
    return None if text is None else storable(text)
