"""Crons for property tests: texts, each with what it means, aimed at the days of a walk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from hypothesis import strategies as st

from unit.timetables.walk import DAY, Expression, Field, Test

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


def minute_of(wall: datetime) -> int:
    return wall.minute


def hour_of(wall: datetime) -> int:
    return wall.hour


def day_of(wall: datetime) -> int:
    return wall.day


def month_of(wall: datetime) -> int:
    return wall.month


def weekday_of(wall: datetime) -> int:
    return wall.isoweekday() % 7


def is_last_day(wall: datetime) -> bool:
    return (wall + DAY).month != wall.month


def is_last_workday(wall: datetime) -> bool:
    if wall.isoweekday() > 5:
        return False
    rest = [wall + timedelta(days=days) for days in range(1, 8)]
    return all(day.isoweekday() > 5 for day in rest if day.month == wall.month)


def numbers(value_of, lowest: int, highest: int, likely: Sequence[int]) -> st.SearchStrategy[Field]:
    """Fields of numbers: values, lists, ranges and steps; often a likely one."""
    values = st.one_of(st.sampled_from(sorted(set(likely))), st.integers(lowest, highest))

    def among(text: str, chosen: frozenset[int]) -> Field:
        return Field(text, lambda wall: value_of(wall) in chosen)

    def stepped(low: int, high: int, step: int) -> Field:
        return among(f"{low}-{high}/{step}", frozenset(range(low, high + 1, step)))

    everything = range(lowest, highest + 1)
    # Sunday is 0 and 7, so `5/1` is Friday, Saturday and Sunday.
    end, size = (7, 7) if value_of is weekday_of else (highest, highest + 1)
    return st.one_of(
        values.map(lambda n: among(str(n), frozenset({n}))),
        st.just(among("*", frozenset(everything))),
        st.integers(1, highest).map(lambda n: among(f"*/{n}", frozenset(everything[::n]))),
        st.frozensets(values, min_size=1, max_size=4).map(
            lambda chosen: among(",".join(map(str, sorted(chosen))), chosen)
        ),
        st.tuples(values, values).map(
            lambda ends: among(
                f"{min(ends)}-{max(ends)}", frozenset(range(min(ends), max(ends) + 1))
            )
        ),
        st.tuples(values, st.integers(1, highest)).map(
            lambda drawn: among(
                f"{drawn[0]}/{drawn[1]}",
                frozenset(one % size for one in range(drawn[0], end + 1, drawn[1])),
            )
        ),
        st.tuples(values, values, st.integers(1, 5)).map(
            lambda drawn: stepped(min(drawn[:2]), max(drawn[:2]), drawn[2])
        ),
    )


def star() -> st.SearchStrategy[Field]:
    return st.just(Field("*", lambda _: True))


def special_days() -> st.SearchStrategy[Field]:
    return st.sampled_from(
        [
            Field("L", is_last_day),
            Field("LW", is_last_workday),
            Field("1,L", lambda wall: wall.day == 1 or is_last_day(wall)),
        ]
    )


def special_weekdays(likely: Sequence[int]) -> st.SearchStrategy[Field]:
    def nth(weekday: int, which: int) -> Test:
        return lambda wall: weekday_of(wall) == weekday and (wall.day + 6) // 7 == which

    def last(weekday: int) -> Test:
        return lambda wall: weekday_of(wall) == weekday and (wall + 7 * DAY).month != wall.month

    weekday = st.one_of(st.sampled_from(sorted(set(likely))), st.integers(0, 6))
    return st.one_of(
        weekday.map(lambda n: Field(WEEKDAYS[n], lambda wall: weekday_of(wall) == n)),
        st.tuples(weekday, st.integers(1, 5)).map(
            lambda drawn: Field(f"{WEEKDAYS[drawn[0]]}#{drawn[1]}", nth(*drawn))
        ),
        weekday.map(lambda n: Field(f"{n}L", last(n))),
        st.just(Field("7", lambda wall: weekday_of(wall) == 0)),
    )


@lru_cache(maxsize=512)
def crons(days: tuple[datetime, ...]) -> st.SearchStrategy[Expression]:
    """Crons that mostly have a slot on one of the days."""
    weekdays = [weekday_of(day) for day in days]
    on_months = st.one_of(
        numbers(month_of, 1, 12, [day.month for day in days]),
        st.sampled_from([day.month for day in days]).map(
            lambda n: Field(MONTHS[n - 1], lambda wall: wall.month == n)
        ),
    )
    on_days = st.one_of(numbers(day_of, 1, 31, [day.day for day in days]), special_days())
    on_weekdays = st.one_of(numbers(weekday_of, 0, 6, weekdays), special_weekdays(weekdays))
    days_of = st.sampled_from(
        [(star(), star())] * 5
        + [(on_days, star())] * 2
        + [(star(), on_weekdays)] * 2
        + [(on_days, on_weekdays)]
    ).flatmap(lambda pair: st.tuples(*pair))
    months = st.sampled_from([star()] * 4 + [on_months]).flatmap(lambda chosen: chosen)
    return st.builds(
        lambda minute, hour, on, month: Expression(minute, hour, on[0], month, on[1]),
        numbers(minute_of, 0, 59, [0, 1, 30, 59]),
        numbers(hour_of, 0, 23, [0, 1, 2, 3, 23]),
        days_of,
        months,
    )
