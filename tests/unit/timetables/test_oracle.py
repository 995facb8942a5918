"""Cron boundaries against an oracle that walks every minute and looks at the local clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise, takewhile
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from flow.timetables import (
    CronInterval,
    intervals_from,
    latest_complete,
    neighbours,
)

MINUTE = timedelta(minutes=1)

# Zone and first day of a walk that crosses a transition, in spring and in autumn.
WALKS = [
    ("America/Chicago", "2024-03-09"),
    ("America/Chicago", "2024-11-02"),
    ("America/Los_Angeles", "2020-03-07"),
    ("America/Toronto", "2023-11-04"),
    ("Europe/Zurich", "2026-03-28"),
    ("Europe/Zurich", "2026-10-24"),
    ("Europe/London", "2025-10-25"),
    ("Australia/Lord_Howe", "2025-10-04"),  # half an hour
    ("Australia/Lord_Howe", "2025-04-05"),
    ("America/Sao_Paulo", "2018-11-03"),  # at midnight
    ("America/Sao_Paulo", "2019-02-16"),
    ("America/St_Johns", "2011-03-12"),  # at 00:01
    ("America/St_Johns", "2011-11-05"),
    ("Antarctica/Troll", "2025-03-29"),  # two hours
    ("Antarctica/Troll", "2025-10-25"),
    ("Africa/Casablanca", "2025-02-22"),
    ("Pacific/Apia", "2011-12-29"),  # a day that never was
    ("Pacific/Kwajalein", "1993-08-20"),
    ("Asia/Kathmandu", "2025-05-01"),
    ("UTC", "2024-02-28"),
]
DAYS_WALKED = 3


@dataclass(frozen=True)
class Field:
    """The text of one field and the values it means, generated side by side."""

    text: str
    values: frozenset[int]


@dataclass(frozen=True)
class Expression:
    minute: Field
    hour: Field
    day: Field
    weekday: Field

    @property
    def text(self) -> str:
        return f"{self.minute.text} {self.hour.text} {self.day.text} * {self.weekday.text}"

    def matches(self, wall: datetime) -> bool:
        if wall.minute not in self.minute.values or wall.hour not in self.hour.values:
            return False
        day = wall.day in self.day.values
        weekday = wall.isoweekday() % 7 in self.weekday.values
        if self.day.text.startswith("*") or self.weekday.text.startswith("*"):
            return day and weekday
        return day or weekday

    @property
    def has_rhythm(self) -> bool:
        return self.hour.values == set(range(24)) or self.minute.text.startswith("*")


def field(lowest: int, highest: int) -> st.SearchStrategy[Field]:
    values = st.integers(lowest, highest)
    everything = range(lowest, highest + 1)
    star = st.just(Field("*", frozenset(everything)))
    step = st.integers(1, 12).map(lambda n: Field(f"*/{n}", frozenset(everything[::n])))
    single = values.map(lambda n: Field(str(n), frozenset({n})))
    several = st.frozensets(values, min_size=1, max_size=4).map(
        lambda numbers: Field(",".join(map(str, sorted(numbers))), numbers)
    )
    rising = st.tuples(values, values).map(
        lambda ends: Field(f"{min(ends)}-{max(ends)}", frozenset(range(min(ends), max(ends) + 1)))
    )
    return st.one_of(single, several, step, rising, star)


STAR_DAY = st.just(Field("*", frozenset(range(1, 32))))
STAR_WEEKDAY = st.just(Field("*", frozenset(range(7))))
WEEKDAYS = st.integers(0, 6).map(lambda n: Field(str(n), frozenset({n})))
NIGHT_HOURS = st.integers(0, 3).map(lambda n: Field(str(n), frozenset({n})))

EXPRESSIONS = st.builds(
    Expression,
    minute=field(0, 59),
    hour=st.one_of(field(0, 23), NIGHT_HOURS),
    day=st.one_of(STAR_DAY, field(1, 31)),
    weekday=st.one_of(STAR_WEEKDAY, STAR_WEEKDAY, WEEKDAYS),
)


@lru_cache(maxsize=len(WALKS))
def minutes(zone: str, day: str) -> list[tuple[datetime, datetime, str]]:
    """Every minute of a walk: instant, wall time, and how the zone's clock reads it.

    `kind` is "once", "first", "second" (the passes of a fold) or "skipped" (a wall time of a gap,
    with the instant that it is moved to).
    """
    start = datetime.fromisoformat(day).replace(tzinfo=UTC)
    count = DAYS_WALKED * 24 * 60
    clock = ZoneInfo(zone)
    shown = [(start + n * MINUTE).astimezone(clock).replace(tzinfo=None) for n in range(count + 1)]
    seen: dict[datetime, int] = {}
    for wall in shown:
        seen[wall] = seen.get(wall, 0) + 1
    passes: dict[datetime, int] = {}
    walked = []
    for n, wall in enumerate(shown):
        instant = start + n * MINUTE
        passes[wall] = passes.get(wall, 0) + 1
        kind = "once" if seen[wall] == 1 else ("first", "second")[passes[wall] - 1]
        walked.append((instant, wall, kind))
        gap = wall - shown[n - 1] - MINUTE if n else timedelta(0)
        walked += [
            (instant + late * MINUTE, shown[n - 1] + (late + 1) * MINUTE, "skipped")
            for late in range(gap // MINUTE)
        ]
    return walked


def fire(expression: Expression, zone: str, day: str) -> list[datetime]:
    wanted = {"once", "second", "skipped"} | ({"first"} if expression.has_rhythm else set())
    return sorted(
        {
            instant
            for instant, wall, kind in minutes(zone, day)
            if kind in wanted and expression.matches(wall)
        }
    )


@settings(max_examples=400, deadline=None)
@given(EXPRESSIONS, st.sampled_from(WALKS), st.integers(0, 60 * (DAYS_WALKED * 24 * 60)))
def test_boundaries_are_those_of_the_minute_walk(
    expression: Expression, walk: tuple[str, str], seconds: int
) -> None:
    zone, day = walk
    timetable = CronInterval(expression.text, zone)
    start, end = minutes(zone, day)[0][0], minutes(zone, day)[-1][0]
    fired = [moment for moment in fire(expression, zone, day) if moment <= end]

    found = list(
        takewhile(lambda interval: interval.start <= end, intervals_from(timetable, start))
    )
    assert all(one.end == other.start for one, other in pairwise(found))
    forward = [interval.start for interval in found]
    assert forward == fired

    backward = []
    moment, _ = neighbours(timetable, end + MINUTE / 60)
    while moment is not None and moment >= start:
        backward.append(moment)
        moment, _ = neighbours(timetable, moment)
    assert backward == fired[::-1]

    asked = start + timedelta(seconds=seconds, microseconds=seconds % 2)
    before = [one for one in fired if one <= asked]
    if len(before) > 1:
        assert latest_complete(timetable, asked) == (before[-2], before[-1])
