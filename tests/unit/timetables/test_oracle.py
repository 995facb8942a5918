"""Timetables of every kind against a walk that looks at the clock on the wall, minute by minute.

Zones are all of the tz database, days mostly those from 1970 to 2060 in which a clock is moved.
FLOW_TEST_TIME_EXAMPLES says how many examples are tried (default 200).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile, zip_longest
from typing import Any, NamedTuple
from zoneinfo import available_timezones

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flow.errors import InvalidDag
from flow.timetables import (
    Catchup,
    Never,
    Timetable,
    interval_of,
    intervals_from,
    latest_complete,
    neighbours,
    parse,
    plan_next,
)
from flow.timetables.events import EventsTimetable
from flow.timetables.interval import CronDataIntervalTimetable, DeltaDataIntervalTimetable
from flow.timetables.trigger import (
    CronTriggerTimetable,
    DeltaTriggerTimetable,
    MultipleCronTriggerTimetable,
)
from unit.timetables.walk import FIRST, JUDGED, LAST, Expression, Walk, transitions, walk
from unit.timetables.written_crons import crons

ZONES = sorted(available_timezones())
CATCHUPS: list[Catchup] = [True, False, "none"]
MOST = 40
"""Intervals that are compared in each direction."""

tries = settings(
    max_examples=int(os.environ.get("FLOW_TEST_TIME_EXAMPLES", "200")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Expected(NamedTuple):
    """An interval; its end is None where the walk does not go so far."""

    start: datetime
    end: datetime | None


@dataclass(frozen=True)
class Case:
    """A timetable, and the intervals that the walk says it has."""

    timetable: Timetable
    middle: datetime
    anchor: datetime | None
    expected: Sequence[Expected] = field(repr=False)
    finite: bool

    @property
    def begin(self) -> datetime:
        return self.middle - JUDGED

    @property
    def end(self) -> datetime:
        return self.middle + JUDGED

    def judged(self) -> list[Expected]:
        return [one for one in self.expected if self.begin <= one.start <= self.end]

    def latest_complete(self, now: datetime) -> Expected | None:
        """None where it is not in sight."""
        ended = [one for one in self.expected if one.end is not None and one.end <= now]
        return ended[-1] if ended and ended[-1].start >= self.begin else None


def moments(around: datetime) -> st.SearchStrategy[datetime]:
    """Moments in the judged part of a walk, often near its middle, whole or by the microsecond."""
    far, near = int(JUDGED.total_seconds()) - 3_600, 3 * 3_600
    return st.tuples(
        st.one_of(st.integers(-near, near), st.integers(-far, far)),
        st.sampled_from([0, 0, 1, 123_456, 999_999]),
    ).map(lambda drawn: around + timedelta(seconds=drawn[0], microseconds=drawn[1]))


@st.composite
def places(draw: st.DrawFn) -> tuple[str, datetime]:
    """A zone and the middle of a walk."""
    zone = draw(st.sampled_from(ZONES))
    moved = transitions(zone)
    if moved and draw(st.integers(0, 7)):
        return zone, draw(st.sampled_from(moved))
    day = draw(st.integers(1, (LAST - FIRST).days - 1))
    return zone, FIRST + timedelta(days=day)


def touching(ticks: Sequence[datetime]) -> list[Expected]:
    """From tick to tick."""
    return [Expected(start, end) for start, end in zip_longest(ticks, ticks[1:])]


def before(ticks: Sequence[datetime], length: timedelta) -> list[Expected]:
    """Up to each tick."""
    return [Expected(tick - length, tick) for tick in ticks]


def multiples(walked: Walk, anchor: datetime, distance: timedelta) -> list[datetime]:
    """Moments that are a whole number of distances from an anchor: go there, then walk."""
    moment = anchor
    while moment > walked.middle - 2 * JUDGED:
        moment -= distance
    while moment < walked.middle - 2 * JUDGED:
        moment += distance
    found = []
    while moment <= walked.middle + 2 * JUDGED:
        found.append(moment)
        moment += distance
    return found


def has_days(cron: Expression, walked: Walk) -> bool:
    """Whether a cron is taken. One that is refused, because no day matches it, has no tick."""
    try:
        parse(cron.text, "UTC")
    except InvalidDag:
        assert not walked.ticks(cron)
        return False
    return True


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A timetable of any kind somewhere and somewhen."""
    zone, middle = draw(places())
    walked = walk(zone, middle)
    anchor = draw(st.none() | moments(middle))
    kind = draw(st.sampled_from(["interval", "interval", "trigger", "delta", "events"]))
    length = timedelta(seconds=draw(st.sampled_from([0, 0, 1, 1_800, 9_000])))
    schedule: Any
    match kind:
        case "interval":
            cron = draw(crons(walked.days()))
            schedule = draw(
                st.sampled_from([cron.text, CronDataIntervalTimetable(cron.text, zone)])
            )
            if not has_days(cron, walked):
                schedule = None
            expected = touching(walked.ticks(cron))
        case "trigger":
            several = draw(st.lists(crons(walked.days()), min_size=1, max_size=3))
            several = [one for one in several if has_days(one, walked)]
            texts = [one.text for one in several]
            schedule = MultipleCronTriggerTimetable(*texts, timezone=zone, interval=length)
            if len(several) == 1:
                schedule = CronTriggerTimetable(*texts, timezone=zone, interval=length)
            elif not several:
                schedule = None
            ticks = sorted({tick for one in several for tick in walked.ticks(one)})
            expected = before(ticks, length)
        case "delta":
            # A day or more, or down to a few minutes; also with a part of a second.
            distance = timedelta(seconds=draw(st.sampled_from([86_400, 3_600, 5_000, 700.25])))
            origin = anchor or datetime(1970, 1, 1, tzinfo=UTC)
            origin += (middle - origin) // (distance * 4) * (distance * 4)
            ticks = multiples(walked, origin, distance)
            written = (
                (distance, touching(ticks)),
                (DeltaDataIntervalTimetable(distance), touching(ticks)),
                (DeltaTriggerTimetable(distance, interval=length), before(ticks, length)),
            )
            schedule, expected = draw(st.sampled_from(written))
        case _:
            dates = draw(st.lists(moments(middle), min_size=1, max_size=8))
            schedule = EventsTimetable(dates)
            expected = before(sorted(set(dates)), timedelta(0))
    return Case(parse(schedule, zone), middle, anchor, expected, finite=kind == "events")


@tries
@given(st.data())
def test_intervals_are_those_of_the_walk(data: st.DataObject) -> None:
    case = data.draw(cases())
    asked = data.draw(moments(case.middle))
    ahead = [one for one in case.judged() if one.start >= asked][:MOST]
    behind = [one for one in case.judged() if one.start < asked][-MOST:]

    end = ahead[-1].start if len(ahead) == MOST else case.end
    following = intervals_from(case.timetable, asked, case.anchor)
    found = list(takewhile(lambda one: one.start <= end, following))
    assert [one.start for one in found] == [one.start for one in ahead]
    assert all(own.end in (one.end, None) for one, own in zip(found, ahead, strict=True))

    backward = []
    begin = behind[0].start if len(behind) == MOST else case.begin
    earlier, _ = neighbours(case.timetable, asked, case.anchor)
    while earlier is not None and earlier >= begin:
        backward.append(earlier)
        earlier, _ = neighbours(case.timetable, earlier, case.anchor)
    assert backward == [one.start for one in reversed(behind)]

    for interval in (behind[-1:] + ahead)[:3]:
        own = interval_of(case.timetable, interval.start, case.anchor)
        assert own is not None
        assert interval.end in (own.end, None)
    if case.timetable != Never() and asked not in [one.start for one in case.expected]:
        assert interval_of(case.timetable, asked, case.anchor) is None
    complete = case.latest_complete(asked)
    if complete is not None:
        assert latest_complete(case.timetable, asked, case.anchor) == complete


@tries
@given(st.data())
def test_the_next_run_is_the_first_that_the_rules_allow(data: st.DataObject) -> None:
    """The rules of flow-time(7), read off a list of all intervals."""
    case = data.draw(cases())
    now = data.draw(moments(case.middle))
    start_date = case.anchor
    cursor = data.draw(st.none() | moments(case.middle))
    end_date = data.draw(st.none() | moments(case.middle))
    catchup = data.draw(st.sampled_from(CATCHUPS))
    complete = case.latest_complete(now)
    if complete is None:
        return
    allowed = [
        one
        for one in case.expected
        if (start_date is None or one.start >= start_date)
        and (cursor is None or one.start >= cursor)
    ]
    bounded = start_date is not None or cursor is not None or case.finite
    if not (catchup is True and bounded):
        allowed = [one for one in allowed if one.start >= complete.start]
    if catchup == "none" and cursor is None:
        allowed = [one for one in allowed if one.end is None or one.end > now]
    planned = plan_next(
        case.timetable,
        start_date=start_date,
        end_date=end_date,
        catchup=catchup,
        cursor=cursor,
        now=now,
    )
    if not allowed:
        assert planned is None or planned.interval.start > case.end
        return
    if end_date is not None and allowed[0].start > end_date:
        assert planned is None
        return
    assert planned is not None
    assert planned.interval.start == allowed[0].start
    assert planned.due_at == planned.interval.end
    assert allowed[0].end in (planned.due_at, None)
    assert planned.next_cursor > planned.interval.start
    later = [one.start for one in case.expected if one.start > planned.interval.start]
    assert not later or planned.next_cursor <= later[0]
