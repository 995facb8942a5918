"""What every kind of timetable answers, whether it is stored in a spec or read from rows."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple, Protocol

Catchup = bool | Literal["none"]
"""True: every interval. False: the latest complete one. "none": none that ended before the DAG
began or went on."""


class Interval(NamedTuple):
    """A slice of time in UTC with `start <= end`: the logical date of its run, and when it is due.

    Trigger timetables without an `interval`, event dates and `@once` have empty ones.
    """

    start: datetime
    end: datetime


class Kind(Protocol):
    """One kind of timetable.

    Its intervals rise in both their starts and their ends. Moments are in UTC, here and in what is
    answered. `anchor` is the DAG's start date: it places what is counted from it, and limits
    nothing. The functions of `flow.timetables` are for callers whose moments may be in any zone.
    """

    @property
    def alone(self) -> bool:
        """Whether a run is made only while no other run of the DAG is unfinished."""
        ...

    def check(self) -> None:
        """Raise `InvalidDag` when the values of the timetable cannot be."""
        ...

    def words(self) -> str:
        """When runs are made, in plain English."""
        ...

    def first_from(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """The first interval that starts at or after `instant`."""
        ...

    def last_before(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """The last interval that starts before `instant`."""
        ...

    def last_ended(self, now: datetime, anchor: datetime | None) -> Interval | None:
        """The last interval with `end <= now`."""
        ...

    def starting_at(self, moment: datetime, anchor: datetime | None) -> Interval | None:
        """The interval whose logical date `moment` is; None where it is none's."""
        ...

    def coming(
        self,
        start_date: datetime | None,
        catchup: Catchup,
        cursor: datetime | None,
        now: datetime,
    ) -> Interval | None:
        """The interval of the next run, due now or later."""
        ...

    def cursor_after(self, interval: Interval, anchor: datetime | None) -> datetime:
        """Where the schedule stands once the run of `interval` is made."""
        ...

    def opening(
        self,
        start_date: datetime | None,
        catchup: Catchup,
        cursor: datetime | None,
        now: datetime,
    ) -> datetime | None:
        """The cursor with which a DAG begins (it has none then), or goes on after a pause."""
        ...


def later(one: datetime | None, other: datetime | None) -> datetime | None:
    """The later of two moments, where None is before all."""
    if one is None or other is None:
        return one or other
    return max(one, other)
