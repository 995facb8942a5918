"""T10: odd calendar points.

`@once` is one run in the life of a DAG, whatever becomes of its file, its schedule's position or
its scheduler. A leap day's cron goes from leap year to leap year. Microseconds of a start date do
not reach the boundaries of a cron, and those of an explicit date come back as they were given. An
interval that ends before it starts, or where it starts, is refused, and nothing is made. A deleted
run of `@once` comes again, and no other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.scheduled import coming, intervals, moment, runs, schedule, unpause
from waiting import wait_until

NEEDS: list[str] = []

BREAKS = [
    # Nothing that was deleted comes again.
    Break(
        "engine/flow/ops/deleting.py",
        "            for stored in once:\n",
        "            for stored in once[:0]:\n",
        test="test_once_comes_again_when_its_run_is_deleted",
    ),
    # Whoever plans once plans again.
    Break(
        "engine/flow/timetables/single.py",
        "return Interval(only, only) if cursor is None else None",
        "return Interval(only, only) if cursor != start_date else None",
        test="test_once_is_once_in_the_life_of_a_dag",
    ),
    # A new definition begins anew.
    Break(
        "engine/flow/store/dags.py",
        "self._plan(file, spec, row.cursor, now, afresh=True)",
        "self._plan(file, spec, None, now)",
        test="test_once_is_once_in_the_life_of_a_dag",
    ),
    # Microseconds are dropped.
    Break(
        "engine/flow/ops/intervals.py",
        "    found = interval_of(spec.timetable, date, spec.start_date)\n",
        "    date = date.replace(microsecond=0)\n"
        "    found = interval_of(spec.timetable, date, spec.start_date)\n",
        test="test_microseconds_of_an_explicit_date_come_back",
    ),
    # They shift the boundaries of a cron.
    Break(
        "engine/flow/timetables/ticks.py",
        "instant.replace(microsecond=0) + _SECOND",
        "instant + _SECOND",
        test="test_microseconds_of_a_start_date_do_not_reach_a_cron",
    ),
    # An empty interval is taken.
    Break(
        "engine/flow/ops/intervals.py",
        "    if asked.end <= asked.start:\n",
        "    if asked.end < asked.start:\n",
        test="test_an_interval_that_is_none_is_refused",
    ),
]

HEAD: Final = """
from datetime import datetime, timedelta, UTC
from flow import DAG
from flow.operators.empty import EmptyOperator
"""
ONCE: Final = (
    HEAD
    + """
with DAG("once", schedule="@once", {arguments}):
    EmptyOperator(task_id={task!r})
"""
)
DAGS: Final = (
    HEAD
    + """
with DAG("leap", schedule="0 0 29 2 *", start_date=datetime(2019, 1, 1), catchup=True):
    EmptyOperator(task_id="nothing")
with DAG("century", schedule="0 0 29 2 *", start_date=datetime(1895, 1, 1),
         end_date=datetime(1910, 1, 1), catchup=True):
    EmptyOperator(task_id="nothing")
with DAG("exact", schedule="@hourly", start_date=datetime(2024, 5, 1, 10, 59, 59, 123456),
         end_date=datetime(2024, 5, 1, 13), catchup=True):
    EmptyOperator(task_id="nothing")
with DAG("tick", schedule="*/15 * * * *", start_date=datetime(2024, 5, 1, 10, 0, 0, 1),
         end_date=datetime(2024, 5, 1, 10, 45, 0, 1), catchup=True):
    EmptyOperator(task_id="nothing")
with DAG("whenever", schedule=None):
    EmptyOperator(task_id="nothing")
with DAG("daily", schedule="@daily", start_date=datetime(2024, 1, 1), catchup=False,
         is_paused_upon_creation=True):
    EmptyOperator(task_id="nothing")
"""
)
STARTS: Final = {
    "dated": "start_date=datetime(2024, 3, 1, 12, 30, 0, 250000)",
    "dated_all": "start_date=datetime(2024, 3, 1), catchup=True",
    "undated": "catchup='none'",
}
"""Arguments of a DAG that runs once, at once."""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed() as made:
        assert made.flow("db", "migrate").code == 0
        made.write("dags.py", DAGS)
        made.parse()
        schedule(made)
        yield made


def write_once(deployment: Deployment, dag_id: str, arguments: str, task: str = "nothing") -> None:
    """Write the file of a DAG that runs once, and let it be parsed."""
    text = ONCE.replace('"once"', repr(dag_id)).format(arguments=arguments, task=task)
    deployment.write(f"{dag_id}.py", text)
    deployment.parse()


def only_run(deployment: Deployment, dag_id: str) -> dict[str, Any]:
    """Schedule to idle; the only run that there is."""
    schedule(deployment)
    (run,) = runs(deployment, dag_id)
    return run


@pytest.mark.parametrize("name", STARTS)
def test_once_is_once_in_the_life_of_a_dag(deployment: Deployment, name: str) -> None:
    arguments = STARTS[name]
    write_once(deployment, name, arguments)
    first = only_run(deployment, name)
    assert first["data_interval_start"] == first["data_interval_end"] == first["logical_date"]
    path = deployment.dags / f"{name}.py"

    os.utime(path)  # touched
    deployment.parse()
    assert only_run(deployment, name) == first

    write_once(deployment, name, arguments, task="edited")
    assert deployment.ask("dags", "show", name)["version"] > 1
    assert only_run(deployment, name) == first

    write_once(deployment, name, "start_date=datetime(2025, 6, 1)")  # another date
    assert only_run(deployment, name) == first

    write_once(deployment, name, "start_date=datetime(2025, 6, 1), catchup=True")
    assert only_run(deployment, name) == first

    assert deployment.flow("dags", "pause", name).code == 0
    assert unpause(deployment, name)[name]["due"] == 0
    assert only_run(deployment, name) == first

    path.unlink()  # gone, and back again
    deployment.parse()
    schedule(deployment)
    write_once(deployment, name, arguments)
    assert only_run(deployment, name) == first

    path.rename(deployment.dags / f"moved_{name}.py")
    deployment.parse()
    assert only_run(deployment, name) == first


def test_once_comes_again_when_its_run_is_deleted(deployment: Deployment) -> None:
    write_once(deployment, "deleted", STARTS["dated"])
    first = only_run(deployment, "deleted")
    deleted = deployment.ask("runs", "delete", "deleted", first["run_id"], "--yes")
    assert deleted["come_again"]
    again = only_run(deployment, "deleted")
    assert again["run_id"] == first["run_id"]
    assert moment(again["queued_at"]) > moment(first["queued_at"])
    assert only_run(deployment, "deleted") == again


def test_a_killed_scheduler_makes_its_only_run_once(deployment: Deployment) -> None:
    """Between creating the run and the end of everything there is no moment of which it matters."""
    for point, made in (("before_commit", 0), ("after_commit", 1)):
        name = f"killed_{point}"
        write_once(deployment, name, STARTS["dated"])
        killed = deployment.flow("schedule", "--once", FLOW_FAULTS=f"schedule.create.{point}=kill")
        assert killed.code == -9
        assert len(runs(deployment, name)) == made
        only_run(deployment, name)


def test_a_later_start_date_is_waited_for(deployment: Deployment) -> None:
    soon = datetime.now(UTC) + timedelta(days=1)
    write_once(deployment, "later", f"start_date=datetime.fromisoformat({soon.isoformat()!r})")
    schedule(deployment)
    assert runs(deployment, "later") == []
    (listed,) = [dag for dag in deployment.ask("dags", "list", "--all") if dag["dag_id"] == "later"]
    assert moment(listed["next_run_at"]) == soon
    # It comes while the scheduler waits for it.
    soon = datetime.now(UTC) + timedelta(seconds=2)
    write_once(deployment, "later", f"start_date=datetime.fromisoformat({soon.isoformat()!r})")
    scheduler = deployment.start("schedule")
    wait_until(lambda: runs(deployment, "later"), "the only run", pause=0.2)
    assert scheduler.end() == 0
    assert moment(only_run(deployment, "later")["data_interval_start"]) == soon


def test_a_leap_day_goes_from_leap_year_to_leap_year(deployment: Deployment) -> None:
    found = intervals(runs(deployment, "leap"))
    now = datetime.now(UTC)
    days = [datetime(year, 2, 29, tzinfo=UTC) for year in range(2020, now.year + 1, 4)]
    assert found == [one for one in pairwise(days) if one[1] <= now]
    assert found
    years = [
        start.year for start, _ in coming(deployment, "leap", "--from", "2019-01-01", "-n", "3")
    ]
    assert years == [2020, 2024, 2028]
    # 2100 will be none, and 1900 was none.
    assert coming(deployment, "leap", "--from", "2093-01-01", "-n", "2") == [
        (datetime(start, 2, 29, tzinfo=UTC), datetime(end, 2, 29, tzinfo=UTC))
        for start, end in ((2096, 2104), (2104, 2108))
    ]
    assert intervals(runs(deployment, "century")) == [
        (datetime(start, 2, 29, tzinfo=UTC), datetime(end, 2, 29, tzinfo=UTC))
        for start, end in ((1896, 1904), (1904, 1908), (1908, 1912))
    ]


def test_microseconds_of_a_start_date_do_not_reach_a_cron(deployment: Deployment) -> None:
    hour = timedelta(hours=1)
    first = datetime(2024, 5, 1, 11, tzinfo=UTC)
    assert intervals(runs(deployment, "exact")) == [
        (first + number * hour, first + (number + 1) * hour) for number in range(3)
    ]
    quarter = hour / 4
    assert [start for start, _ in intervals(runs(deployment, "tick"))] == [
        datetime(2024, 5, 1, 10, tzinfo=UTC) + number * quarter for number in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    "date",
    [
        "2024-02-29T23:59:59.999999Z",
        "2024-02-29T23:59:59.000001+13:45",
        "2024-12-31T23:59:59.500000-11:00",
    ],
)
def test_microseconds_of_an_explicit_date_come_back(deployment: Deployment, date: str) -> None:
    run_id = deployment.run("whenever", "--date", date)
    shown = deployment.ask("runs", "show", "whenever", run_id)
    for name in ("logical_date", "data_interval_start", "data_interval_end"):
        assert moment(shown[name]) == moment(date)
    (listed,) = [run for run in runs(deployment, "whenever") if run["run_id"] == run_id]
    assert moment(listed["logical_date"]) == moment(date)
    in_utc = moment(date).astimezone(UTC)
    text = deployment.flow("runs", "list", "whenever").out
    assert f"{in_utc:%H:%M:%S.%f}" in text


@pytest.mark.parametrize("dag_id", ["daily", "whenever"])
@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2024-02-02", "2024-02-01"),
        ("2024-02-01", "2024-02-01"),
        ("2024-02-01T00:00Z", "2024-02-01T00:00Z"),
        ("2024-02-01T00:00Z", "2024-02-01T01:00+01:00"),
        ("2024-02-01T00:00:00.000001Z", "2024-02-01T00:00:00Z"),
    ],
)
def test_an_interval_that_is_none_is_refused(
    deployment: Deployment, dag_id: str, start: str, end: str
) -> None:
    before = deployment.ask("runs", "list", "--all")
    refused = deployment.flow("run", dag_id, "--interval", start, end)
    assert (refused.code, refused.out) == (2, "")
    assert "interval" in refused.err
    assert "Traceback" not in refused.err
    assert deployment.ask("runs", "list", "--all") == before


@pytest.mark.parametrize("date", ["2024-02-30", "2024-13-01", "2023-02-29T00:00Z", "soon"])
def test_a_date_that_does_not_exist_is_refused(deployment: Deployment, date: str) -> None:
    before = deployment.ask("runs", "list", "--all")
    assert deployment.flow("run", "whenever", "--date", date).code == 2
    assert deployment.ask("runs", "list", "--all") == before


def test_a_date_between_boundaries_names_the_ones_beside_it(deployment: Deployment) -> None:
    refused = deployment.flow("run", "daily", "--date", "2024-02-01T00:00:00.000001Z")
    assert refused.code == 2
    for neighbour in ("2024-02-01T00:00:00+00:00", "2024-02-02T00:00:00+00:00"):
        assert neighbour in refused.err


def test_whatever_happened_the_store_is_sound(deployment: Deployment) -> None:
    """After all others."""
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")
