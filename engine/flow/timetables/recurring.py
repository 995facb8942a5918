"""Timetables with more than one interval: how the next run is found among them.

Two shapes. **Interval** timetables cut time into intervals that touch each other: from tick to
tick, and the run of an interval is made at its end. **Trigger** timetables make a run at each tick,
for the `interval` before it, which is empty unless it is given.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar

import msgspec

from flow.timetables.kind import Catchup, Interval, later
from flow.timetables.ticks import END, TICK, Ticks, first_after, last_until


class Recurring(msgspec.Struct, frozen=True, tag_field="kind"):
    """What interval and trigger timetables have in common."""

    alone: ClassVar[bool] = False

    def first_from(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """As of any `Kind`; the two shapes below say how."""
        raise NotImplementedError

    def last_before(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """As of any `Kind`; the two shapes below say how."""
        raise NotImplementedError

    def last_ended(self, now: datetime, anchor: datetime | None) -> Interval | None:
        """As of any `Kind`; the two shapes below say how."""
        raise NotImplementedError

    def earliest(self) -> Interval | None:
        """The very first interval, of a timetable that has one."""
        return None

    def starting_at(self, moment: datetime, anchor: datetime | None) -> Interval | None:
        """The interval that starts exactly at `moment`."""
        found = self.first_from(moment, anchor)
        return found if found is not None and found.start == moment else None

    def coming(
        self,
        start_date: datetime | None,
        catchup: Catchup,
        cursor: datetime | None,
        now: datetime,
    ) -> Interval | None:
        """The next interval to run: not before start date and cursor, nor before catchup allows."""
        floor = later(start_date, cursor)
        if catchup is True:
            first = self.first_from(floor, start_date) if floor is not None else self.earliest()
            if floor is not None or first is not None:
                return first
        oldest = self.last_ended(now, start_date)
        if oldest is None or (catchup == "none" and cursor is None):
            oldest = self._following(oldest, now, start_date)
        if oldest is None or floor is None or oldest.start >= floor:
            return oldest
        return self.first_from(floor, start_date)

    def due_at(self, interval: Interval) -> datetime:
        """At the interval's end."""
        return interval.end

    def cursor_after(self, interval: Interval, anchor: datetime | None) -> datetime:
        """The end of the interval, so that a changed schedule makes none that overlaps it.

        Where intervals overlap or are empty the next one starts before, and counts.
        """
        least = interval.start + TICK
        following = self.first_from(least, anchor)
        if following is not None and following.start < interval.end:
            return following.start
        return max(least, interval.end)

    def opening(
        self,
        start_date: datetime | None,
        catchup: Catchup,
        cursor: datetime | None,
        now: datetime,
    ) -> datetime | None:
        """For catchup "none" the start of what ends next.

        Intervals that ended during a pause are then not made up for. The cursor has to hold the
        interval that ends next: planned again after its end without a cursor, it would be the one
        after it, for ever.
        """
        if catchup != "none":
            return cursor
        fresh = self.coming(start_date, "none", None, now)
        return cursor if fresh is None else later(cursor, fresh.start)

    def _following(
        self, ended: Interval | None, now: datetime, anchor: datetime | None
    ) -> Interval | None:
        """The first interval that has not ended at `now`."""
        if ended is None:
            return self.earliest() or self.first_from(now, anchor)
        return self.first_from(ended.start + TICK, anchor)


class Intervals(Recurring, frozen=True):
    """Intervals that touch each other, from tick to tick."""

    def ticks(self, anchor: datetime | None) -> Ticks:
        """Where intervals begin and end."""
        raise NotImplementedError

    def first_from(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """From the first tick at or after `instant`."""
        ticks = self.ticks(anchor)
        return _from_start(ticks, ticks.first_from(instant))

    def last_before(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """From the last tick before `instant`."""
        ticks = self.ticks(anchor)
        return _from_start(ticks, ticks.last_before(instant))

    def last_ended(self, now: datetime, anchor: datetime | None) -> Interval | None:
        """Up to the last tick until `now`."""
        ticks = self.ticks(anchor)
        end = last_until(ticks, now)
        start = ticks.last_before(end) if end is not None else None
        return Interval(start, end) if start is not None and end is not None else None

    def cursor_after(self, interval: Interval, anchor: datetime | None) -> datetime:
        """The end of the interval, where the next one starts."""
        return interval.end


class Triggers(Recurring, frozen=True):
    """A run at each tick, for the `interval` before it."""

    def ticks(self, anchor: datetime | None) -> Ticks:
        """When runs are made."""
        raise NotImplementedError

    def length(self) -> timedelta:
        """How long each interval is."""
        raise NotImplementedError

    def first_from(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """Up to the first tick a length or more after `instant`."""
        length = self.length()
        if instant > END - length:
            return None
        return _until(self.ticks(anchor).first_from(instant + length), length)

    def last_before(self, instant: datetime, anchor: datetime | None) -> Interval | None:
        """Up to the last tick less than a length after `instant`."""
        length = self.length()
        return _until(self.ticks(anchor).last_before(min(instant, END - length) + length), length)

    def last_ended(self, now: datetime, anchor: datetime | None) -> Interval | None:
        """Up to the last tick until `now`."""
        return _until(last_until(self.ticks(anchor), now), self.length())


def _from_start(ticks: Ticks, start: datetime | None) -> Interval | None:
    end = first_after(ticks, start) if start is not None else None
    return Interval(start, end) if start is not None and end is not None else None


def _until(end: datetime | None, length: timedelta) -> Interval | None:
    try:
        return None if end is None else Interval(end - length, end)
    except OverflowError:  # in the first days of the calendar
        return None
