"""T09: a cron means what it is said to mean, in the list of its runs and in words.

Where both day fields are restricted a day has to match one of them; a field that begins with `*`,
also `*/1`, restricts nothing. `MON#1`, `L`, `LW` and `5L` are days of the month, `H` a value that
the DAG's id chooses. What is no cron, or has a token that could mean something else, is an import
error of its own file alone, and says what is accepted.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.scheduled import Interval, by_dag, coming, intervals, schedule

NEEDS: list[str] = []

BREAKS = [
    # Both day fields have to match.
    Break(
        "engine/flow/timetables/cron.py",
        "            return next(slots)\n",
        "            slots.day_and = True\n            return next(slots)\n",
        test="test_runs_are_on_the_days_that_match",
    ),
    # The words are those of another rule than the runs.
    Break(
        "engine/flow/timetables/cron.py",
        "        self.both_day_fields_must_match = self._slots.day_and\n",
        "        self.both_day_fields_must_match = True\n",
        test="test_the_words_say_the_same",
    ),
    # A step that does not fit means something else, silently.
    Break(
        "engine/flow/timetables/cron.py",
        "    if step.isdecimal() and (len(step) > 2 or int(step) > size):\n",
        "    if step.isdecimal() and len(step) > 9:\n",
        test="test_what_is_no_cron_is_an_error_of_its_file",
    ),
    # `H` is the same for every DAG.
    Break(
        "engine/flow/timetables/hashed.py",
        'sha256(f"{name}:{dag_id}".encode())',
        'sha256(f"{name}".encode())',
        test="test_a_hashed_value_is_one_of_the_dags_own_that_stays",
    ),
]

DAY: Final = timedelta(days=1)
FROM: Final = date(2024, 12, 1)
COUNT: Final = 12


class Cron(NamedTuple):
    """A cron that fires at most once a day: when, on which days, and words that have to be said."""

    text: str
    hour: int
    minute: int
    on: Callable[[date], bool]
    words: tuple[str, ...]
    silent: tuple[str, ...] = ()
    """Words that would be wrong."""


def _nth(day: date, weekday: int, number: int) -> bool:
    """Whether a day is the nth of its weekday (Monday is 0) in its month."""
    return day.weekday() == weekday and (day.day - 1) // 7 == number - 1


def _last_day(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _last_workday(day: date) -> bool:
    last = day.replace(day=_last_day(day))
    while last.weekday() > 4:
        last -= DAY
    return day == last


CRONS: Final = {
    "both_days": Cron(
        "0 10 1-7 * 1", 10, 0,
        lambda day: day.day <= 7 or day.weekday() == 0,
        ("10:00", "days 1 to 7", "and also", "every Monday"), ("if it is",),
    ),
    "star_step_is_a_star": Cron(
        "0 0 */1 * 5", 0, 0, lambda day: day.weekday() == 4, ("00:00", "every Friday"), ("also",),
    ),
    "every_other_day_that_is_friday": Cron(
        "0 0 */2 * 5", 0, 0,
        lambda day: day.day % 2 == 1 and day.weekday() == 4,
        ("if it is", "Friday"), ("also",),
    ),
    "stars_mean_any_day": Cron("30 4 * * *", 4, 30, lambda day: True, ("every day at 04:30",)),
    "whole_range_is_every_day": Cron(
        "0 0 1-31 * 5", 0, 0, lambda day: True, ("every day",), ("Friday",)
    ),
    "star_weekday_step": Cron(
        "0 0 13 * */1", 0, 0, lambda day: day.day == 13, ("13",), ("also", "Sunday")
    ),
    "friday_or_13th": Cron(
        "0 12 13 * FRI", 12, 0,
        lambda day: day.day == 13 or day.weekday() == 4,
        ("13", "and also", "every Friday"),
    ),
    "first_monday": Cron(
        "0 0 * * MON#1", 0, 0, lambda day: _nth(day, 0, 1), ("first Monday",), ("every Monday",)
    ),
    "third_friday": Cron("15 6 * * 5#3", 6, 15, lambda day: _nth(day, 4, 3), ("third Friday",)),
    "last_day": Cron("0 0 L * *", 0, 0, lambda day: day.day == _last_day(day), ("last day",)),
    "last_workday": Cron("0 0 LW * *", 0, 0, _last_workday, ("last workday",)),
    "last_friday": Cron(
        "0 0 * * 5L", 0, 0,
        lambda day: day.weekday() == 4 and day.day + 7 > _last_day(day),
        ("last Friday",), ("every Friday",),
    ),
    "sunday_is_7_and_0": Cron("0 0 * * 0,7", 0, 0, lambda day: day.weekday() == 6, ("Sunday",)),
    "weekdays_by_name": Cron(
        "0 8 * * mon-fri", 8, 0, lambda day: day.weekday() < 5, ("from Monday to Friday", "08:00")
    ),
    "month_names": Cron(
        "0 0 1 JAN,jul *", 0, 0, lambda day: day.day == 1 and day.month in (1, 7),
        ("January and July",),
    ),
}  # fmt: skip

ILLEGAL: Final = {
    # Schedule, and what the error has to name.
    "minute_60": ("60 * * * *", ("minute", "'60'")),
    "hour_24": ("0 24 * * *", ("hour", "'24'")),
    "day_0": ("0 0 0 * *", ("day", "'0'")),
    "day_32": ("0 0 32 * *", ("day", "'32'")),
    "month_13": ("0 0 1 13 *", ("month", "'13'")),
    "weekday_8": ("0 0 * * 8", ("week", "'8'")),
    "sixth_monday": ("0 0 * * MON#6", ("week", "'MON#6'")),
    "no_such_day": ("0 0 30 2 *", ("no day ever matches",)),
    "falling_range": ("0 9-5 * * *", ("hour", "'9-5'")),
    "step_too_large": ("*/90 * * * *", ("'*/90'", "minute")),
    "step_0": ("*/0 * * * *", ("minute", "'*/0'")),
    "nearest_workday": ("0 0 15W * *", ("day", "'15W'")),
    "question_mark": ("0 0 ? * 1", ("day", "'?'")),
    "random": ("R 0 * * *", ("'R'", "minute")),
    "hash_range": ("H(30-90) * * * *", ("'H(30-90)'", "minute")),
    "four_fields": ("0 0 * *", ("five",)),
    "seconds": ("0 0 0 * * *", ("seconds",)),
    "years": ("0 0 0 1 1 * 2027", ("years",)),
    "words": ("every monday", ("five",)),
    "preset": ("@fortnightly", ("'@fortnightly'",)),
    "empty": ("", ("''",)),
}

FILE: Final = """
from datetime import datetime
from flow import DAG
from flow.operators.empty import EmptyOperator

with DAG({dag_id!r}, schedule={schedule!r}, start_date=datetime(2024, 12, 1), {more}catchup=True):
    EmptyOperator(task_id="nothing")
"""
HASHED: Final = [f"hashed_{number}" for number in range(8)]
END: Final = "end_date=datetime(2026, 3, 1), "
PAUSED: Final = "is_paused_upon_creation=True, "
"""Should it be taken for a cron, nobody has to wait for its runs."""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed() as made:
        assert made.flow("db", "migrate").code == 0
        for name, cron in CRONS.items():
            made.write(f"{name}.py", FILE.format(dag_id=name, schedule=cron.text, more=END))
        for name, (text, _) in ILLEGAL.items():
            made.write(f"bad_{name}.py", FILE.format(dag_id=name, schedule=text, more=PAUSED))
        for name in HASHED:
            made.write(f"{name}.py", FILE.format(dag_id=name, schedule="H H * * *", more=""))
        made.parse()
        schedule(made)
        yield made


def walked(cron: Cron) -> list[datetime]:
    """When a cron fires, by looking at every day."""
    days = (FROM + number * DAY for number in range(366 * 7))
    return [
        datetime(day.year, day.month, day.day, cron.hour, cron.minute, tzinfo=UTC)
        for day in days
        if cron.on(day)
    ]


@pytest.fixture(scope="module")
def made_runs(deployment: Deployment) -> dict[str, list[Interval]]:
    """The intervals of all runs, by DAG."""
    return {dag_id: intervals(found) for dag_id, found in by_dag(deployment).items()}


@pytest.fixture(scope="module")
def dags(deployment: Deployment) -> dict[str, dict[str, Any]]:
    """What is listed, by DAG."""
    return {dag["dag_id"]: dag for dag in deployment.ask("dags", "list", "--all")}


@pytest.fixture(scope="module")
def errors(deployment: Deployment) -> dict[str, dict[str, Any]]:
    """The import errors by name of file."""
    found = deployment.ask("dags", "errors", "--all")
    return {Path(one["file"]).stem: one for one in found}


@pytest.mark.parametrize("name", CRONS)
def test_runs_are_on_the_days_that_match(
    deployment: Deployment, made_runs: dict[str, list[Interval]], name: str
) -> None:
    expected = walked(CRONS[name])
    found = coming(deployment, name, "--from", FROM.isoformat(), "-n", str(COUNT))
    last = datetime(2026, 3, 1, tzinfo=UTC)
    wanted = [one for one in expected if one <= last][:COUNT]
    assert [start for start, _ in found] == wanted
    assert [end for _, end in found] == expected[1 : len(found) + 1]
    # And so they were made.
    made = made_runs[name]
    assert made[: len(found)] == found
    assert [start for start, _ in made] == [one for one in expected if one <= last]


@pytest.mark.parametrize("name", CRONS)
def test_the_words_say_the_same(dags: dict[str, dict[str, Any]], name: str) -> None:
    cron = CRONS[name]
    for word in cron.words:
        assert word in dags[name]["schedule"]
    for word in cron.silent:
        assert word not in dags[name]["schedule"]


def test_the_words_are_the_same_everywhere(
    deployment: Deployment, dags: dict[str, dict[str, Any]]
) -> None:
    for name in ("both_days", "last_workday"):
        words = dags[name]["schedule"]
        assert deployment.ask("dags", "show", name)["schedule"] == words
        assert words in deployment.flow("dags", "show", name).out
        assert words in deployment.flow("dags", "next", name).err


@pytest.mark.parametrize("name", ILLEGAL)
def test_what_is_no_cron_is_an_error_of_its_file(
    errors: dict[str, dict[str, Any]], name: str
) -> None:
    assert f"bad_{name}" in errors
    error = errors[f"bad_{name}"]
    for piece in ILLEGAL[name][1]:
        assert piece in error["error"]
    assert error["line"] == 6
    assert "Traceback" not in error["error"]


def test_no_other_file_is_concerned(
    errors: dict[str, dict[str, Any]], dags: dict[str, dict[str, Any]]
) -> None:
    assert errors.keys() == {f"bad_{name}" for name in ILLEGAL}
    assert dags.keys() == {*CRONS, *HASHED}
    assert not any(dag["has_import_error"] for dag in dags.values())


def test_a_hashed_value_is_one_of_the_dags_own_that_stays(deployment: Deployment) -> None:
    first = {name: coming(deployment, name, "--from", "2025-01-01", "-n", "3") for name in HASHED}
    times = {(one[0][0].hour, one[0][0].minute) for one in first.values()}
    assert len(times) > len(HASHED) / 2  # they do not all start at once
    for one in first.values():
        assert {end - start for start, end in one} == {DAY}
    deployment.write("hashed_0.py", (deployment.dags / "hashed_0.py").read_text() + "# edited\n")
    deployment.parse()
    again = coming(deployment, "hashed_0", "--from", "2025-01-01", "-n", "3")
    assert again == first["hashed_0"]
