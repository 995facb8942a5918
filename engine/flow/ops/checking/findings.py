"""What a check finds."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How bad it is. Errors end a check as failed, warnings where it is strict, hints never."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


class Rule(NamedTuple):
    """One kind of finding. Its id is part of the contract; flow-check(7) has a section for each."""

    id: str
    severity: Severity
    summary: str
    default: bool = True
    """Whether it is looked at unless it is asked for."""
    ignorable: bool = True
    """Whether a comment in the file can silence it."""


class Finding(NamedTuple):
    """One fault, at one place."""

    rule: str
    severity: Severity
    file: str
    """Absolute path."""
    line: int | None
    """None: it is about the file as a whole."""
    dag_id: str | None
    message: str
    hint: str | None = None
    """What to do about it."""
