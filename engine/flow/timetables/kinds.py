"""The kinds of timetable that a DAG's spec stores as data.

Another kind is another struct with its own tag; stored specs keep their meaning.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar

import msgspec

from flow.errors import InvalidDag
from flow.timetables import words
from flow.timetables.cron import load_cron
from flow.timetables.custom import Custom
from flow.timetables.kind import Catchup, Interval, later
from flow.timetables.recurring import Intervals, Triggers
from flow.timetables.ticks import TICK, CronTicks, DeltaTicks, ListedTicks, Ticks, UnionTicks
from flow.timetables.zone import as_utc, load_zone

SHORTEST = 1.0
LONGEST = 36_525 * 86_400.0
"""Seconds from one tick of a delta to the next, and of an interval: from 1 s to a hundred years."""
MOST_EVENTS = 10_000


class CronInterval(Intervals, frozen=True, tag="cron_interval"):
    """Intervals between neighbouring slots of a cron expression.

    `expression` has five fields; `timezone` is an IANA name.
    """

    expression: str
    timezone: str

    def check(self) -> None:
        """The expression and the zone can be read."""
        load_cron(self.expression)
        load_zone(self.timezone)

    def words(self) -> str:
        """Such as "every day at 02:30 Europe/Zurich"."""
        return words.of_cron(load_cron(self.expression), self.timezone)

    def ticks(self, anchor: datetime | None) -> Ticks:
        """The slots."""
        return CronTicks(self.expression, self.timezone)


class DeltaInterval(Intervals, frozen=True, tag="delta_interval"):
    """Intervals of a fixed length of `seconds`, counted from the DAG's start date."""

    seconds: float

    def check(self) -> None:
        """The length is possible."""
        _check_distance(self.seconds)

    def words(self) -> str:
        """Such as "every 6 hours"."""
        return words.of_distance(self.seconds)

    def ticks(self, anchor: datetime | None) -> Ticks:
        """Multiples of the length."""
        return DeltaTicks(self.seconds, anchor)


class CronTrigger(Triggers, frozen=True, tag="cron_trigger", omit_defaults=True):
    """A run at each slot of one or more cron expressions, one where several meet.

    `interval` is how many seconds before its slot the interval of a run begins. `run_immediately`
    decides, for a DAG without a start date, whether it begins with the last slot that has passed:
    always (True), never (False), when it is at most so many seconds ago (a number), or when it is
    at most a tenth of the way to the next, or five minutes, ago (None).
    """

    expressions: tuple[str, ...]
    timezone: str
    interval: float = 0.0
    run_immediately: bool | float | None = False

    def check(self) -> None:
        """The expressions, the zone and the interval can be read."""
        if not self.expressions:
            raise InvalidDag("a cron timetable needs a cron expression", "write at least one")
        for expression in self.expressions:
            load_cron(expression)
        load_zone(self.timezone)
        _check_interval(self.interval)

    def words(self) -> str:
        """The words of each cron."""
        crons = [words.of_cron(load_cron(one), self.timezone) for one in self.expressions]
        return "; ".join(crons) + words.of_interval(self.interval)

    def ticks(self, anchor: datetime | None) -> Ticks:
        """The slots of all expressions."""
        if len(self.expressions) == 1:
            return CronTicks(self.expressions[0], self.timezone)
        return UnionTicks(tuple(CronTicks(one, self.timezone) for one in self.expressions))

    def length(self) -> timedelta:
        """How long each interval is."""
        return timedelta(seconds=self.interval)

    def opening(
        self,
        start_date: datetime | None,
        catchup: Catchup,
        cursor: datetime | None,
        now: datetime,
    ) -> datetime | None:
        """As of all, and for a DAG without a start date as `run_immediately` says."""
        if catchup == "none" or start_date is not None or cursor is not None:
            return super().opening(start_date, catchup, cursor, now)
        past = self.last_ended(now, None)
        following = self.coming(None, "none", None, now)
        if past is None or following is None or self._is_near(past.end, following.end, now):
            return None if past is None else past.start
        return following.start

    def _is_near(self, past: datetime, following: datetime, now: datetime) -> bool:
        if isinstance(self.run_immediately, bool):
            return self.run_immediately
        if self.run_immediately is None:
            return now - past <= max((following - past) / 10, timedelta(minutes=5))
        return now - past <= timedelta(seconds=self.run_immediately)


class DeltaTrigger(Triggers, frozen=True, tag="delta_trigger", omit_defaults=True):
    """A run every `seconds`, counted from the DAG's start date, for the `interval` before it."""

    seconds: float
    interval: float = 0.0

    def check(self) -> None:
        """The distance and the interval are possible."""
        _check_distance(self.seconds)
        _check_interval(self.interval)

    def words(self) -> str:
        """Such as "every 6 hours, for the 24 hours before"."""
        return words.of_distance(self.seconds) + words.of_interval(self.interval)

    def ticks(self, anchor: datetime | None) -> Ticks:
        """Multiples of the distance."""
        return DeltaTicks(self.seconds, anchor)

    def length(self) -> timedelta:
        """How long each interval is."""
        return timedelta(seconds=self.interval)


class Events(Triggers, frozen=True, tag="events", omit_defaults=True):
    """A run at each of some moments, which rise; `description` is what somebody calls them."""

    moments: tuple[datetime, ...]
    description: str | None = None

    def check(self) -> None:
        """The moments rise, have a zone, and are not too many."""
        if len(self.moments) > MOST_EVENTS:
            raise InvalidDag(
                f"{len(self.moments)} event dates are too many; accepted are {MOST_EVENTS}",
                "give a DAG those of the coming years, or write a cron",
            )
        instants = [as_utc(moment) for moment in self.moments]
        if instants != sorted(set(instants)):
            raise InvalidDag("event dates must rise", "give each date once, the earliest first")

    def words(self) -> str:
        """How many there are, from when to when."""
        return words.of_events(self.moments, self.description)

    def ticks(self, anchor: datetime | None) -> Ticks:
        """The moments themselves."""
        return ListedTicks(self.moments)

    def length(self) -> timedelta:
        """Their intervals are empty."""
        return timedelta(0)

    def earliest(self) -> Interval | None:
        """That of the first moment."""
        return Interval(self.moments[0], self.moments[0]) if self.moments else None


class _Single(msgspec.Struct, frozen=True, tag_field="kind"):
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

    def due_at(self, interval: Interval) -> datetime:
        """At the interval's end."""
        return interval.end

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


class Once(_Single, frozen=True, tag="once"):
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


class Continuous(_Single, frozen=True, tag="continuous"):
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


class Never(_Single, frozen=True, tag="never"):
    """No schedule: runs are made by hand or by events."""

    def words(self) -> str:
        """In plain English."""
        return "no schedule"

    def starting_at(self, moment: datetime, anchor: datetime | None) -> Interval | None:
        """An empty interval at any moment: a run made by hand takes its date exactly."""
        return Interval(moment, moment)


Timetable = (
    CronInterval
    | DeltaInterval
    | CronTrigger
    | DeltaTrigger
    | Events
    | Once
    | Continuous
    | Never
    | Custom
)
"""Every kind of timetable that is stored; msgspec tells them apart by `kind`."""


def _check_distance(seconds: float) -> None:
    if not SHORTEST <= seconds <= LONGEST:
        raise InvalidDag(
            f"a schedule of every {seconds:g} seconds is not possible; accepted are timedeltas "
            "from one second to a hundred years",
            "write another timedelta, or schedule='@continuous' for runs without a pause",
        )


def _check_interval(seconds: float) -> None:
    if not 0 <= seconds <= LONGEST:
        raise InvalidDag(
            f"an interval of {seconds:g} seconds is not possible; accepted are timedeltas from 0 "
            "to a hundred years",
            "interval is how long before its run the data of a run begins",
        )
