"""What is said in one line: its parts put together, and errors."""

from __future__ import annotations

from collections.abc import Sequence

from flow.errors import FlowError


def joined(*parts: str | None) -> str:
    """The parts of a line that there are."""
    return " · ".join(part for part in parts if part)


def first_of(commands: Sequence[str]) -> str:
    """The first of some commands, and how many more there are."""
    more = len(commands) - 1
    return f"{commands[0]} and {more} more" if more else commands[0]


def of_error(error: FlowError) -> list[str]:
    """What is wrong, and what to do."""
    return [line for line in (error.message, error.hint) if line]
