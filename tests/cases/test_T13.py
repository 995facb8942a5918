"""T13: runs that are started at the same moment never collide, and a real duplicate is a conflict.

A run without a date has an id and a logical date of its own, to the microsecond. A second run for
the same interval or under the same id is refused in words, with exit code 4, whoever made the first
one and however the date is spelt; nothing of it is written. A command that is killed has made its
run, or nothing. Every run is noted once in the audit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, Ended, deployed

NEEDS: list[str] = []

BREAKS = [
    # Ids by the minute.
    Break(
        "engine/flow/ops/run_ids.py",
        "timespec='microseconds'",
        "timespec='minutes'",
        test="test_a_schedule_makes_no_difference",
    ),
    # Logical dates by the second.
    Break(
        "engine/flow/ops/intervals.py",
        "    return Slice(now, last or Interval(now, now), interval_run=False)\n",
        "    now = now.replace(microsecond=0)\n"
        "    return Slice(now, last or Interval(now, now), interval_run=False)\n",
        test="test_a_schedule_makes_no_difference",
    ),
    # The constraint answers instead of Flow.
    Break(
        "engine/flow/store/runs.py",
        "on conflict do nothing\nreturning dag_id, run_key\n",
        "returning dag_id, run_key\n",
        test="test_one_of_several_for_a_date_wins",
    ),
    # Whoever asks twice gets the first run again, as if it had been made.
    Break(
        "engine/flow/ops/running.py",
        "            raise _exists(conn, spec, new)\n",
        "            break\n",
        test="test_one_of_several_for_a_date_wins",
    ),
    # What a command did before it was refused or killed stays.
    Break(
        "engine/flow/store/connect.py",
        '("begin", *settings)',
        "settings",
        test="test_a_killed_command_has_made_its_run_or_nothing",
    ),
]

DAG = """
    from flow import DAG
    from flow.operators.empty import EmptyOperator

    with DAG("whenever", schedule=None):
        EmptyOperator(task_id="nothing")
    with DAG("daily", schedule="@daily", start_date="2024-01-01", catchup=False):
        EmptyOperator(task_id="nothing")
    """

AT_ONCE = 50
SAME_DATE = ("2024-01-05", "2024-01-05T00:00Z", "2024-01-05T01:00+01:00", "2024-01-04T19:00-05:00")
"""One moment, spelt in several ways."""
OF_A_DATABASE = re.compile(r"(?i)\b(insert|select|constraint|unique|duplicate|psycopg|relation)\b")


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed() as made:
        assert made.flow("db", "migrate").code == 0
        made.write("two.py", DAG)
        made.parse()
        yield made


def runs(deployment: Deployment, dag_id: str) -> list[dict[str, Any]]:
    """All runs of a DAG."""
    found: list[dict[str, Any]] = deployment.ask("runs", "list", dag_id, "--all")
    return found


def counted(deployment: Deployment) -> tuple[int, ...]:
    """How many runs, audit entries and wake-ups there are: what `flow run` writes."""
    tables = ("run", "audit", "wakeup")
    query = "select " + ", ".join(f"(select count(*) from {table})" for table in tables)
    done = deployment.flow("db", "shell", "-c", f"copy ({query}) to stdout")
    assert done.code == 0, done.err
    return tuple(int(count) for count in done.out.split())


def assert_conflict(ended: Ended, *said: str) -> None:
    """It was refused in one clear sentence and a hint."""
    assert (ended.code, ended.out) == (4, ""), ended
    message, _ = ended.err.splitlines()
    for piece in ("already exists", *said):
        assert piece in message
    assert "Traceback" not in ended.err
    assert not OF_A_DATABASE.search(ended.err)


def race(deployment: Deployment, commands: Sequence[Sequence[str]]) -> str:
    """Run commands at once of which one may succeed; the id of its run."""
    ended = deployment.together(commands)
    (winner,) = (one for one in ended if one.code == 0)
    for loser in ended:
        if loser is not winner:
            assert_conflict(loser)
    return winner.out.strip()


def test_runs_without_a_date_never_collide(deployment: Deployment) -> None:
    command = ("run", "whenever", "-o", "json")
    ended = deployment.together([command] * AT_ONCE)
    assert [one.err for one in ended if one.code] == []
    made = [json.loads(one.out) for one in ended]
    assert len({run["run_id"] for run in made}) == AT_ONCE
    assert len({run["logical_date"] for run in made}) == AT_ONCE
    assert any(datetime.fromisoformat(run["logical_date"]).microsecond for run in made)
    listed = {run["run_id"]: run for run in runs(deployment, "whenever")}
    assert listed == {run["run_id"]: run for run in made}
    assert counted(deployment)[:2] == (AT_ONCE, AT_ONCE)
    noted = deployment.ask("audit", "--dag", "whenever", "--all")
    assert sorted(one["target"] for one in noted) == sorted(f"whenever/{id}" for id in listed)


def test_a_schedule_makes_no_difference(deployment: Deployment) -> None:
    ended = deployment.together([("run", "daily", "-o", "json")] * 6)
    made = [json.loads(one.out) for one in ended]
    assert len({run["run_id"] for run in made}) == 6
    assert any(datetime.fromisoformat(run["logical_date"]).microsecond for run in made)
    # All are about the same day, and none of them is that day's own run.
    assert len({run["data_interval_start"] for run in made}) == 1
    assert deployment.flow("run", "daily", "--date", made[0]["data_interval_start"]).code == 0


@pytest.mark.parametrize("dag_id", ["whenever", "daily"])
def test_one_of_several_for_a_date_wins(deployment: Deployment, dag_id: str) -> None:
    before = len(runs(deployment, dag_id))
    winner = race(deployment, [("run", dag_id, "--date", date) for date in SAME_DATE])
    rows = counted(deployment)
    again = deployment.flow("run", dag_id, "--date", SAME_DATE[0], "--run-id", "other")
    assert_conflict(again, winner, dag_id, "2024-01-05")
    assert counted(deployment) == rows
    assert len(runs(deployment, dag_id)) == before + 1


def test_the_hint_of_a_conflict_can_be_followed(deployment: Deployment) -> None:
    run_id = deployment.run("daily", "--date", "2024-03-01")
    assert deployment.flow("schedule", "--once").code == 0
    ended = deployment.flow("run", "daily", "--date", "2024-03-01")
    assert_conflict(ended, run_id)
    hint = f"flow clear daily {run_id}"
    assert ended.err.splitlines()[1].endswith(hint)
    again = deployment.flow(*hint.split()[1:], "--yes")
    assert (again.code, again.out.splitlines()[0]) == (0, f"{run_id}: success -> queued, version 1")


def test_one_of_several_of_an_id_wins(deployment: Deployment) -> None:
    before = runs(deployment, "whenever")
    command = ("run", "whenever", "--run-id", "same")
    assert race(deployment, [command] * 4) == "same"
    rows = counted(deployment)
    dated = (*command, "--date", "2024-02-01")
    for ended in deployment.together([command, dated]):
        assert_conflict(ended, "'same'", "'whenever'")
    assert counted(deployment) == rows
    assert len(runs(deployment, "whenever")) == len(before) + 1
    # The date that the refused run had asked for is still free, and so is the id in another DAG.
    other = ("run", "daily", "--run-id", "same")
    free = deployment.together([("run", "whenever", "--date", "2024-02-01"), other])
    assert [one.code for one in free] == [0, 0]


def test_a_conflict_is_an_object_under_json(deployment: Deployment) -> None:
    command = ("run", "whenever", "--run-id", "twice")
    assert deployment.flow(*command).code == 0
    ended = deployment.flow(*command, "-o", "json")
    assert (ended.code, ended.out) == (4, "")
    assert json.loads(ended.err)["error"]["code"] == "conflict"


def test_the_scheduler_makes_no_second_run_and_is_not_overtaken(deployment: Deployment) -> None:
    assert deployment.flow("schedule", "--once").code == 0
    daily = runs(deployment, "daily")
    own = [run for run in daily if run["logical_date"] == run["data_interval_start"]]
    starts = [run["data_interval_start"] for run in own]
    assert len(set(starts)) == len(starts)
    for start in starts:
        assert_conflict(deployment.flow("run", "daily", "--date", start))
    assert len(runs(deployment, "daily")) == len(daily)


@pytest.mark.parametrize(("point", "made"), [("before_commit", 0), ("after_commit", 1)])
def test_a_killed_command_has_made_its_run_or_nothing(
    deployment: Deployment, point: str, made: int
) -> None:
    before = counted(deployment)
    command = ("run", "whenever", "--run-id", f"killed_{point}")
    ended = deployment.flow(*command, FLOW_FAULTS=f"ops.run.{point}=kill")
    assert (ended.code, ended.out) == (-9, "")
    assert [now - then for now, then in zip(counted(deployment), before, strict=True)] == [made] * 3
    again = deployment.flow(*command)
    assert again.code == (4 if made else 0)


def test_nothing_is_half_written(deployment: Deployment) -> None:
    """Last in this file: it looks at what all tests before it have made."""
    assert deployment.flow("schedule", "--once").code == 0
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")
