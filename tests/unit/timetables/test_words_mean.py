"""The words of a cron, read back by somebody who knows English and no crons, are its slots."""

from __future__ import annotations

import re
from calendar import day_name, month_name
from datetime import datetime, timedelta

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from flow.errors import InvalidDag
from flow.timetables import parse
from unit.timetables.walk import DAY, Expression, Test
from unit.timetables.written_crons import crons, is_last_day, is_last_workday

NUMBERS = r"\d+(?: to \d+)?(?:(?:, | and )\d+(?: to \d+)?)*"
RHYTHM = re.compile(
    r"(?P<every>every minute|every \d+ minutes|every hour on the hour"
    rf"|every hour at minutes? (?P<minutes>{NUMBERS}))"
    rf"(?: of the hours? (?P<hours>{NUMBERS}))?(?:, (?P<days>.+))?"
)
WITHIN = re.compile(
    rf"(?P<days>.+) at minutes? (?P<minutes>{NUMBERS})(?: of the hours? (?P<hours>{NUMBERS}))?"
)
CLOCK = re.compile(r"(?P<days>.+?),? at (?P<times>\d\d:\d\d.*)")
MONTHS = "|".join(month_name[1:])
IN_MONTHS = re.compile(rf"(?P<days>.+) in (?P<months>(?:{MONTHS})(?:(?:, | and )(?:{MONTHS}))*)")
WEEKDAYS = "|".join(day_name)
PLAIN_WEEKDAY = re.compile(rf"(?:every|a) ({WEEKDAYS})")
COUNTED_WEEKDAY = re.compile(rf"the (first|second|third|fourth|fifth|last) ({WEEKDAYS}) of the")
COUNTS = ("first", "second", "third", "fourth", "fifth")

DAYS = tuple(datetime(2024, 2, 26) + timedelta(days=days) for days in range(6))


def numbers(text: str | None, everything: range) -> set[int]:
    if text is None:
        return set(everything)
    found: set[int] = set()
    for low, high in re.findall(r"(\d+)(?: to (\d+))?", text):
        found.update(range(int(low), int(high or low) + 1))
    return found


def read(words: str) -> Test:
    """What the words say of a moment on the wall."""
    text = words.removesuffix(" (UTC)").removesuffix(" UTC")
    if parts := RHYTHM.fullmatch(text):
        on = read_days(parts["days"] or "every day")
        minutes = numbers(parts["minutes"], range(60))
        if parts["every"] == "every hour on the hour":
            minutes = {0}
        elif step := re.search(r"every (\d+) minutes", parts["every"]):
            minutes = set(range(0, 60, int(step[1])))
        hours = numbers(parts["hours"], range(24))
        return lambda wall: on(wall) and wall.minute in minutes and wall.hour in hours
    if parts := WITHIN.fullmatch(text):
        on = read_days(parts["days"])
        minutes, hours = numbers(parts["minutes"], range(60)), numbers(parts["hours"], range(24))
        return lambda wall: on(wall) and wall.minute in minutes and wall.hour in hours
    parts = CLOCK.fullmatch(text)
    assert parts is not None, words
    on, times = read_days(parts["days"]), set(re.findall(r"\d\d:\d\d", parts["times"]))
    return lambda wall: on(wall) and f"{wall:%H:%M}" in times


def read_days(text: str) -> Test:
    if parts := IN_MONTHS.fullmatch(text):
        on = read_days(parts["days"])
        months = {list(month_name).index(name) for name in re.findall(MONTHS, parts["months"])}
        return lambda wall: on(wall) and wall.month in months
    if text == "every day":
        return lambda _: True
    if " if it is " in text:
        day, weekday = (
            one(part) for one, part in zip(SIDES, text.split(" if it is "), strict=True)
        )
        return lambda wall: day(wall) and weekday(wall)
    if " and also " in text:
        day, weekday = (
            one(part) for one, part in zip(SIDES, text.split(" and also "), strict=True)
        )
        return lambda wall: day(wall) or weekday(wall)
    plain = re.sub(r"\(Monday to Friday\)", "", text)
    return read_weekdays(text) if re.search(WEEKDAYS, plain) else read_month_days(text)


def read_month_days(text: str) -> Test:
    numbered = re.search(rf"days? ({NUMBERS})", text)
    days = numbers(numbered[1], range(0)) if numbered else set()
    last_day, last_workday = "the last day" in text, "the last workday" in text
    return lambda wall: (
        wall.day in days
        or (last_day and is_last_day(wall))
        or (last_workday and is_last_workday(wall))
    )


def read_weekdays(text: str) -> Test:
    if text == "every day from Monday to Friday":
        return lambda wall: wall.isoweekday() <= 5
    names = set(PLAIN_WEEKDAY.findall(text))
    counted = COUNTED_WEEKDAY.findall(text)

    def fits(wall: datetime) -> bool:
        name = day_name[wall.weekday()]
        which = {COUNTS[(wall.day - 1) // 7]}
        if (wall + 7 * DAY).month != wall.month:
            which.add("last")
        return name in names or any(count in which and name == day for count, day in counted)

    return fits


def hours_of(cron: Expression) -> set[int]:
    return {hour for hour in range(24) if cron.hour.means(DAYS[0].replace(hour=hour))}


SIDES = (read_month_days, read_weekdays)


@settings(max_examples=300)
@given(crons(DAYS), st.lists(st.integers(0, 4 * 366 * 24 * 60), min_size=30, max_size=30))
def test_words_say_what_fires_and_nothing_else(cron: Expression, minutes: list[int]) -> None:
    try:
        words = parse(cron.text, "UTC").words()
    except InvalidDag:
        assume(False)
    says = read(words)
    walls = [datetime(2023, 1, 1) + timedelta(minutes=minute) for minute in minutes]
    # At the days that the cron is aimed at: every hour, and every minute of some hours.
    clock = [(hour, minute) for hour in range(24) for minute in (0, 1, 30, 59)]
    clock += [(hour, minute) for hour in sorted(hours_of(cron))[:2] for minute in range(60)]
    near = [day.replace(hour=hour, minute=minute) for day in DAYS for hour, minute in clock]
    for wall in walls + near:
        assert says(wall) == cron.has_slot(wall), (words, wall)
