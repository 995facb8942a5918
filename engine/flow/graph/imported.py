"""What importing a DAG file has come to: its DAGs, or why it does not define what it should."""

from __future__ import annotations

from typing import NamedTuple

from flow.graph.spec import DagSpec
from flow.timetables import Evaluation


class ImportedDag(NamedTuple):
    """A DAG as its file defines it, checked."""

    spec: DagSpec
    body: bytes
    """Canonical JSON of `spec`."""
    spec_hash: str
    line: int
    """Where the file makes it."""
    schedule: str
    """In words."""
    evaluation: Evaluation | None = None
    """What its timetable says of the intervals to come, where that is a class of the user's."""


class ImportFailure(NamedTuple):
    """Why a file does not define what it should."""

    error: str
    """One line."""
    line: int | None = None
    traceback: str | None = None
