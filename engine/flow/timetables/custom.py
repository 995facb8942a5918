"""The timetable of a class of the user's, as a spec stores it and as rows complete it.

Its rules are code, which neither a scheduler nor a verb may run. The DAG processor has it evaluated
ahead in a child and stores the coming intervals as rows (`flow.store.dag_intervals`); whoever plans
completes the timetable with them first. Without its rows it makes no run.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, NamedTuple

from flow.errors import InvalidDag
from flow.timetables.kind import Interval
from flow.timetables.recurring import Recurring
from flow.timetables.ticks import TICK
from flow.timetables.zone import as_utc

MOST_ROWS: Final = 256
"""Intervals that are known ahead."""


class Row(NamedTuple):
    """One interval, and when its run is made."""

    start: datetime
    end: datetime
    run_after: datetime


class Custom(Recurring, frozen=True, tag="custom", omit_defaults=True):
    """Intervals that a class of the user's has listed.

    `name` is the class, `state` the JSON of what it serialises to, so that other arguments make
    another version of the DAG. `rows` are never part of a spec that is stored.
    """

    name: str
    state: str = "{}"
    summary: str = ""
    rows: tuple[Row, ...] = ()

    def check(self) -> None:
        """Rows are not the file's to give."""
        if self.rows:
            raise InvalidDag("a stored timetable of your own has no intervals", "report this")

    def words(self) -> str:
        """What its author calls it."""
        return self.summary or self.name

    def first_from(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """The first interval that starts at or after `instant`."""
        return self._at(bisect_left(self.rows, instant, key=_start))

    def last_before(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """The last interval that starts before `instant`."""
        return self._at(bisect_left(self.rows, instant, key=_start) - 1)

    def last_ended(self, now: datetime, anchor: datetime | None) -> Interval | None:
        """The last interval whose run is due."""
        return self._at(bisect_right(self.rows, now, key=_run_after) - 1)

    def earliest(self) -> Interval | None:
        """The first one that is known."""
        return self._at(0)

    def due_at(self, interval: Interval) -> datetime:
        """When the class wants the run of one of its intervals."""
        row = self.rows[bisect_left(self.rows, interval.start, key=_start)]
        return row.run_after

    def cursor_after(self, interval: Interval, anchor: datetime | None) -> datetime:
        """As of all; where intervals overlap, the one after the last known may do so too."""
        overlap = any(following.start < one.end for one, following in pairwise(self.rows))
        following = interval.start + TICK
        if overlap and self.first_from(following, anchor) is None:
            return following
        return super().cursor_after(interval, anchor)

    def _at(self, place: int) -> Interval | None:
        if not 0 <= place < len(self.rows):
            return None
        return Interval(*self.rows[place][:2])


class Evaluation(NamedTuple):
    """What a class has said about the intervals to come, or why it could not."""

    rows: tuple[Row, ...] = ()
    error: str | None = None
    """One line."""
    traceback: str | None = None
    dry: bool = False
    """It has no interval after these."""


def checked(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows in UTC. Raises `ValueError` for rows that cannot be."""
    found = tuple(Row(*map(as_utc, row)) for row in rows)
    for row in found:
        if row.end < row.start:
            raise ValueError(f"the interval from {row.start} ends before it starts, at {row.end}")
    for one, following in pairwise(found):
        if following.start <= one.start or following.run_after < one.run_after:
            raise ValueError(
                f"the interval from {following.start} (run after {following.run_after}) does not "
                f"come after the one from {one.start} (run after {one.run_after})"
            )
    return found


def _start(row: Row) -> datetime:
    return row.start


def _run_after(row: Row) -> datetime:
    return row.run_after
