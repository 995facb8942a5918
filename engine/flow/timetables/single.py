"""Timetables without a row of intervals: one run, one run after the other, no schedule."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

import msgspec

from flow.timetables.kind import Catchup, Interval, later
from flow.timetables.ticks import TICK


class Single(msgspec.Struct, frozen=True, tag_field="kind"):
    """What timetables without a row of intervals have in common."""

    alone: ClassVar[bool] = False

    def check(self) -> None:
        """Nothing can be wrong."""

    def first_from(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """None is known ahead."""
        return None

    def last_before(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """None is known ahead."""
        return None

    def last_ended(self, now: datetime, anchor: datetime | None) -> Interval | None:
        """None is known ahead."""
        return None

    def starting_at(self, moment: datetime, anchor: datetime | None) -> Interval | None:
        """None is known ahead."""
        return None

    def coming(
        self,
        start_date: datetime | None,
        catchup: Catchup,
        cursor: datetime | None,
        now: datetime,
    ) -> Interval | None:
        """None comes."""
        return None

    def cursor_after(self, interval: Interval, anchor: datetime | None) -> datetime:
        """The interval's end."""
        return interval.end

    def opening(
        self,
        start_date: datetime | None,
        catchup: Catchup,
        cursor: datetime | None,
        now: datetime,
    ) -> datetime | None:
        """Where it was."""
        return cursor


class Once(Single, frozen=True, tag="once"):
    """One empty interval in the life of the DAG, at its start date.

    Any cursor means that its run has been made. Without a start date it is wherever one asks.
    """

    def words(self) -> str:
        """In one word."""
        return "once"

    def first_from(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """The one interval, unless it lies before."""
        only = anchor or instant
        return Interval(only, only) if only >= instant else None

    def last_before(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """The one interval, if it lies before."""
        return Interval(anchor, anchor) if anchor is not None and anchor < instant else None

    def last_ended(self, now: datetime, anchor: datetime | None) -> Interval | None:
        """The one interval, unless it lies in the future."""
        only = anchor or now
        return Interval(only, only) if only <= now else None

    def starting_at(self, moment: datetime, anchor: datetime | None) -> Interval | None:
        """The one interval, if it is there."""
        return Interval(moment, moment) if anchor in (None, moment) else None

    def coming(
        self,
        start_date: datetime | None,
        catchup: Catchup,
        cursor: datetime | None,
        now: datetime,
    ) -> Interval | None:
        """The one interval, until its run is made."""
        only = start_date or now
        return Interval(only, only) if cursor is None else None


class Continuous(Single, frozen=True, tag="continuous"):
    """Runs one after the other: each from where the one before ended, to when it is made."""

    alone: ClassVar[bool] = True

    def words(self) -> str:
        """In plain English."""
        return "without a pause, each run after the one before"

    def coming(
        self,
        start_date: datetime | None,
        catchup: Catchup,
        cursor: datetime | None,
        now: datetime,
    ) -> Interval | None:
        """From the end of the last one, or the start date, to now."""
        start = later(start_date, cursor) or now
        return Interval(start, max(now, start + TICK))

    def opening(
        self,
        start_date: datetime | None,
        catchup: Catchup,
        cursor: datetime | None,
        now: datetime,
    ) -> datetime | None:
        """Now, for catchup "none" and for a DAG without a start date that begins."""
        if catchup == "none" or (cursor is None and start_date is None):
            return later(cursor, now)
        return cursor


class Never(Single, frozen=True, tag="never"):
    """No schedule: runs are made by hand or by events."""

    def words(self) -> str:
        """In plain English."""
        return "no schedule"

    def starting_at(self, moment: datetime, anchor: datetime | None) -> Interval | None:
        """An empty interval at any moment: a run made by hand takes its date exactly."""
        return Interval(moment, moment)
