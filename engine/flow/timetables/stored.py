"""The kinds of timetable that a DAG's spec stores as data; those with one interval or none are in
`single`.

Another kind is another struct with its own tag; stored specs keep their meaning.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from flow.errors import InvalidDag
from flow.timetables import words
from flow.timetables.cron import load_cron
from flow.timetables.custom import Custom
from flow.timetables.kind import Catchup, Interval
from flow.timetables.recurring import Intervals, Triggers
from flow.timetables.single import Continuous, Never, Once
from flow.timetables.ticks import CronTicks, DeltaTicks, ListedTicks, Ticks, UnionTicks
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
        _check_interval(float(self.run_immediately or 0))

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
