"""What a clock on the wall shows: a slow and obvious reading of crons, minute by minute.

Nothing of the product is used here. A cron is a text with a function that says whether a wall time
is one of its slots; both are made side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from math import gcd
from zoneinfo import ZoneInfo

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
FIRST, LAST = datetime(1970, 1, 2, tzinfo=UTC), datetime(2060, 12, 30, tzinfo=UTC)
WALKED = 30 * HOUR
"""From the middle of a walk in each direction."""
SURE = 27 * HOUR
"""Up to here no fold has been cut in two by the end of a walk."""
JUDGED = 24 * HOUR
"""What is compared."""

Test = Callable[[datetime], bool]


@dataclass(frozen=True)
class Field:
    """The text of one field, and what it means for a wall time."""

    text: str
    means: Test

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Expression:
    """A cron expression of five fields."""

    minute: Field
    hour: Field
    day: Field
    month: Field
    weekday: Field

    @property
    def text(self) -> str:
        fields = (self.minute, self.hour, self.day, self.month, self.weekday)
        return " ".join(field.text for field in fields)

    def __repr__(self) -> str:
        return self.text

    def has_slot(self, wall: datetime) -> bool:
        if not (self.minute.means(wall) and self.hour.means(wall) and self.month.means(wall)):
            return False
        if self.day.text.startswith("*") or self.weekday.text.startswith("*"):
            return self.day.means(wall) and self.weekday.means(wall)
        return self.day.means(wall) or self.weekday.means(wall)

    @property
    def has_rhythm(self) -> bool:
        every_hour = all(self.hour.means(datetime(2000, 1, 1, hour)) for hour in range(24))
        return every_hour or self.minute.text.startswith("*")


@dataclass(frozen=True)
class Walk:
    """The wall times that a zone's clock shows, with the moments, and those that it skips."""

    middle: datetime
    shown: dict[datetime, list[datetime]]
    skipped: dict[datetime, datetime]

    def ticks(self, cron: Expression) -> list[datetime]:
        """When a cron fires, in order."""
        fired: set[datetime] = set()
        every_pass = cron.has_rhythm
        for wall, moments in self.shown.items():
            if cron.has_slot(wall):
                fired.update(moments if every_pass else moments[-1:])
        for wall, moment in self.skipped.items():
            if cron.has_slot(wall):
                fired.add(moment)
        return sorted(moment for moment in fired if abs(moment - self.middle) <= SURE)

    def days(self) -> tuple[datetime, ...]:
        """The local days of the walk, the middle one twice: it is where clocks are moved."""
        first, *_, last = self.shown
        count = (last.date() - first.date()).days
        days = [first.replace(hour=0, minute=0) + n * DAY for n in range(count + 1)]
        return (*days, days[len(days) // 2])


@lru_cache(maxsize=256)
def walk(zone: str, middle: datetime) -> Walk:
    """Look at the clock of a zone every minute, for 30 hours to either side."""
    clock = ZoneInfo(zone)
    begin, end = middle - WALKED, middle + WALKED
    step = _step(clock, begin, end)
    shown: dict[datetime, list[datetime]] = {}
    skipped: dict[datetime, datetime] = {}
    looks = list(_looks(clock, begin, end, step))
    for moment, wall in looks:
        if not wall.second:
            shown.setdefault(wall, []).append(moment)
    for (before, last_wall), (_, next_wall) in pairwise(looks):
        missing = last_wall + step
        while missing < next_wall:
            if not missing.second:
                # What the clock would have shown, had it not been put forward.
                skipped[missing] = before + (missing - last_wall)
            missing += step
    return Walk(middle, shown, skipped)


def _looks(
    clock: ZoneInfo, begin: datetime, end: datetime, step: timedelta
) -> Iterator[tuple[datetime, datetime]]:
    moment = begin
    while moment <= end:
        yield moment, moment.astimezone(clock).replace(tzinfo=None)
        moment += step


def _step(clock: ZoneInfo, begin: datetime, end: datetime) -> timedelta:
    """One minute, or less where the zone's clock is off UTC by a part of a minute."""
    seconds = 60
    for moment in (begin, end):
        seconds = gcd(seconds, moment.astimezone(clock).second)
    return timedelta(seconds=seconds)


@lru_cache(maxsize=1024)
def transitions(zone: str) -> tuple[datetime, ...]:
    """The minutes from 1970 to 2060 in which a zone's clock is moved."""
    clock = ZoneInfo(zone)
    moved = []
    day = FIRST
    offset = day.astimezone(clock).utcoffset()
    while day < LAST:
        following = day + DAY
        later = following.astimezone(clock).utcoffset()
        if later != offset:
            moved.append(_minute_of_change(clock, day, following))
        day, offset = following, later
    return tuple(moved)


def _minute_of_change(clock: ZoneInfo, before: datetime, after: datetime) -> datetime:
    offset = after.astimezone(clock).utcoffset()
    while after - before > MINUTE:
        between = before + (after - before) // MINUTE // 2 * MINUTE
        if between.astimezone(clock).utcoffset() == offset:
            after = between
        else:
            before = between
    return after
