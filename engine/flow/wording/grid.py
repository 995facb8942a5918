"""What stands around the cells of a grid: dates, durations, types of runs, numbers of versions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from flow.wording.cells import duration_text
from flow.wording.moments import seconds_between

if TYPE_CHECKING:
    from flow.store.read.grid import GridRun

COLUMN: Final = 3
"""Terminal columns that a run takes."""
TYPE_MARKS: Final = {"manual": "m", "backfill": "b", "asset": "a"}
"""Of runs that the schedule did not make."""
GONE: Final = " (old)"
"""Behind what the latest version does not have any more."""
_LATER_VERSION: Final = "+"
"""A number of a version that a column has no room for."""


def headings(dates: Sequence[datetime]) -> list[list[str]]:
    """Rows of two-figure texts that tell the dates apart, coarsest first."""
    return [[date.strftime(part) for date in dates] for part in date_parts(dates)] if dates else []


def date_parts(dates: Sequence[datetime]) -> list[str]:
    """The parts of dates that tell each from the one beside it, coarsest first, for `strftime`."""
    parts = ["%m", "%d"]
    for finer in ("%H", "%M"):
        texts = [date.strftime(" ".join(parts)) for date in dates]
        if all(one != other for one, other in pairwise(texts)):
            break
        parts.append(finer)
    return parts


def seconds(run: GridRun) -> float | None:
    """How long a run took, in seconds; None while it has not ended."""
    return seconds_between(run.started_at, run.ended_at)


def longest(runs: Sequence[GridRun]) -> str:
    """The longest duration of a run, for people; "" where none has taken any time."""
    found = max((seconds(run) or 0.0 for run in runs), default=0.0)
    return duration_text(found) if found else ""


def types(runs: Sequence[GridRun]) -> list[str]:
    """Who made the runs, if not the schedule."""
    return [TYPE_MARKS.get(run.run_type, "") for run in runs]


def versions(runs: Sequence[GridRun], before: int | None = None) -> list[str]:
    """The number of a version where it differs from the one before, else ""."""
    shown = []
    for run in runs:
        shown.append(_number(run.version) if run.version != before else "")
        before = run.version
    return shown


def _number(version: int) -> str:
    text = str(version)
    return text if len(text) < COLUMN else _LATER_VERSION
