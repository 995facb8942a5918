"""A timetable in plain words that say what it does, not how it is written.

Words are made from the values that a cron expression admits, so they agree with the boundaries
even where the expression misleads: `0 0 1-31 * 5` is "every day".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from flow.timetables.cron import LAST_DAY, LAST_OF_MONTH, LAST_WORKDAY, Cron

# Not from `calendar`, whose names follow the locale.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", LAST_OF_MONTH: "last"}
_UNITS: dict[float, str] = {1: "second", 60: "minute", 3_600: "hour", 86_400: "24 hours"}
_EVERY_DAY = "every day"
_MOST_CLOCK_TIMES = 6


def of_cron(cron: Cron, zone: str) -> str:
    """When a cron has its slots, such as "every day at 02:30 Europe/Zurich"."""
    days = _days(cron) + _months(cron)
    if len(cron.minutes) * len(cron.hours) <= _MOST_CLOCK_TIMES:
        comma = "," if " if it is " in days or " and also " in days else ""
        return f"{days}{comma} at {_clock_times(cron)} {zone}"
    times = _minutes(cron) + _hours(cron)
    if not times.startswith("every"):
        return f"{days} {times} ({zone})"
    return f"{times} ({zone})" if days == _EVERY_DAY else f"{times}, {days} ({zone})"


def _clock_times(cron: Cron) -> str:
    return _and(
        f"{hour:02}:{minute:02}" for hour in sorted(cron.hours) for minute in sorted(cron.minutes)
    )


def _minutes(cron: Cron) -> str:
    count = len(cron.minutes)
    if count == 60:
        return "every minute"
    if count > 1 and 60 % count == 0 and cron.minutes == set(range(0, 60, 60 // count)):
        return f"every {60 // count} minutes"
    every = "every hour " if len(cron.hours) == 24 else ""
    if cron.minutes == {0} and every:
        return "every hour on the hour"
    return f"{every}at minute{'s' * (count > 1)} {_numbers(cron.minutes)}"


def _hours(cron: Cron) -> str:
    if len(cron.hours) == 24:
        return ""
    if len(cron.hours) == 1:
        return f" of the hour {_numbers(cron.hours)}"
    return f" of the hours {_numbers(cron.hours)}"


def _months(cron: Cron) -> str:
    if len(cron.months) == 12:
        return ""
    return f" in {_and(_MONTHS[month - 1] for month in sorted(cron.months))}"


def _days(cron: Cron) -> str:
    any_day = cron.days.issuperset(range(1, 32))
    any_weekday = cron.weekdays.issuperset(range(7))
    if cron.both_day_fields_must_match:
        if any_day and any_weekday:
            return _EVERY_DAY
        if any_day:
            return _weekdays(cron)
        if any_weekday:
            return _days_of_month(cron)
        return f"{_days_of_month(cron)} if it is {_or(_weekday_nouns(cron, 'a ', ''))}"
    if any_day or any_weekday:
        return _EVERY_DAY
    return f"{_days_of_month(cron)} and also {_weekdays(cron)}"


def _days_of_month(cron: Cron) -> str:
    numbered = [day for day in cron.days if day > 0]
    nouns = []
    if numbered:
        nouns.append(f"day{'s' * (len(numbered) > 1)} {_numbers(numbered)}")
    if LAST_DAY in cron.days:
        nouns.append("the last day")
    if LAST_WORKDAY in cron.days:
        nouns.append("the last workday (Monday to Friday)")
    return f"on {_and(nouns)} of the month"


def _weekdays(cron: Cron) -> str:
    if cron.weekdays == {1, 2, 3, 4, 5}:
        return "every day from Monday to Friday"
    return _and(_weekday_nouns(cron, "every ", "on "))


def _weekday_nouns(cron: Cron, article: str, preposition: str) -> list[str]:
    plain = sorted(item for item in cron.weekdays if isinstance(item, int))
    counted = sorted(item for item in cron.weekdays if isinstance(item, tuple))
    return [f"{article}{_WEEKDAYS[day]}" for day in plain] + [
        f"{preposition}the {_ORDINALS[which]} {_WEEKDAYS[day]} of the month"
        for day, which in counted
    ]


def of_distance(seconds: float) -> str:
    """How often something happens, such as "every 6 hours"."""
    return f"every {_length(seconds)}"


def of_interval(seconds: float) -> str:
    """What a run of a trigger timetable is about, to be put behind when it is made."""
    return f", for the {_length(seconds)} before" if seconds else ""


def of_events(moments: Sequence[datetime], description: str | None) -> str:
    """How many moments there are, from when to when."""
    name = f"{description}: " if description else ""
    if not moments:
        return f"{name}no dates"
    first, last = (moment.isoformat() for moment in (moments[0], moments[-1]))
    if len(moments) == 1:
        return f"{name}at {first}"
    return f"{name}at {len(moments)} dates from {first} to {last}"


def _length(seconds: float) -> str:
    # A day of a delta is 24 hours, also when a local day is not; so the words say hours.
    if seconds in _UNITS:
        return _UNITS[seconds]
    for length, unit in ((86_400, "days of 24 hours"), (3_600, "hours"), (60, "minutes")):
        count, rest = divmod(seconds, length)
        if rest == 0:
            return f"{count:.0f} {unit}"
    return f"{seconds:.6f}".rstrip("0").rstrip(".") + " seconds"


def _numbers(values: Iterable[int]) -> str:
    """Numbers in order, with three or more in a row drawn together: 1 to 5, 8 and 9."""
    rows: list[list[int]] = []
    for value in sorted(values):
        if rows and value == rows[-1][-1] + 1:
            rows[-1].append(value)
        else:
            rows.append([value])
    return _and(
        text
        for row in rows
        for text in ([f"{row[0]} to {row[-1]}"] if len(row) > 2 else map(str, row))
    )


def _and(parts: Iterable[str]) -> str:
    return _joined(list(parts), "and")


def _or(parts: Iterable[str]) -> str:
    return _joined(list(parts), "or")


def _joined(parts: list[str], word: str) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"
