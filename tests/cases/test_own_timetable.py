"""Timetables of users' own in a deployment: asked ahead, in children, and nobody else's trouble.

The runs come from what is stored: a scheduler makes them while no DAG processor runs, on time, and
no process that has a database login ever runs the timetable. When it fails or has no more, that is
an error or a warning of its DAG alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.scheduled import coming, intervals, moment, runs, schedule, unpause
from waiting import wait_until

BREAKS = [
    # What was known is forgotten when it fails.
    Break(
        "engine/flow/store/dag_intervals.py",
        "        wanted = [*before, *fresh]\n",
        "        wanted = [*fresh]\n",
        test="test_its_failure_is_its_own",
    ),
    # Its end is nobody's business.
    Break(
        "engine/flow/store/dags.py",
        "        if evaluation is not None and evaluation.dry:\n",
        "        if evaluation is not None and evaluation.error:\n",
        test="test_its_end_is_a_warning",
    ),
]

HOUR = timedelta(hours=1)
START = datetime(2024, 1, 1, tzinfo=UTC)

FILE = """
    import os
    from datetime import UTC, datetime
    from flow import DAG
    from flow.operators.empty import EmptyOperator
    from flow.timetables.base import DagRunInfo, Timetable

    class Shifts(Timetable):
        def __init__(self, seconds):
            self.seconds = seconds

        def serialize(self):
            return {{"seconds": self.seconds}}

        @property
        def summary(self):
            return f"in shifts of {{self.seconds}} seconds"

        def next_dagrun_info(self, *, last_automated_data_interval, restriction):
            with open(os.environ["CASE_MARKS"] + "/asked", "a") as file:
                file.write(f"{{os.getpid()}}\\n")
            last = last_automated_data_interval
            start = last.end if last else restriction.earliest
            {then}
            return DagRunInfo.interval(start, start.add(seconds=self.seconds))

    def dag(name, schedule, start, **arguments):
        with DAG(name, schedule=schedule, start_date=start, **arguments):
            EmptyOperator(task_id="nothing")

    dag("own", Shifts(3600), datetime(2024, 1, 1, tzinfo=UTC), catchup=True,
        end_date=datetime(2024, 1, 1, 5, tzinfo=UTC), tags={tags})
    dag("latest", Shifts(3600), datetime(2026, 1, 1, tzinfo=UTC))
    dag("later", Shifts(3600), datetime(2026, 1, 1, tzinfo=UTC), catchup="none")
    dag("endless", Shifts(3600), datetime(2024, 1, 1, tzinfo=UTC), catchup=True,
        is_paused_upon_creation=True)
    dag("quick", Shifts(1), datetime.fromisoformat({now!r}), catchup=True)
    dag("plain", "@daily", datetime(2026, 1, 1, tzinfo=UTC), tags={tags})
    """


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed() as made:
        assert made.flow("db", "migrate").code == 0
        write(made)
        yield made


def write(deployment: Deployment, then: str = "pass", tags: tuple[str, ...] = ()) -> None:
    """Write the file, and let it be parsed."""
    now = deployment.folder / "now"
    if not now.exists():
        now.write_text(datetime.now(UTC).isoformat(timespec="seconds"))
    text = FILE.format(then=then, tags=list(tags), now=now.read_text())
    deployment.write("own.py", text)
    deployment.parse()


def listed(deployment: Deployment) -> dict[str, dict[str, object]]:
    return {dag["dag_id"]: dag for dag in deployment.ask("dags", "list", "--all")}


def test_its_runs_are_foretold_and_made(deployment: Deployment) -> None:
    hours = [(START + n * HOUR, START + (n + 1) * HOUR) for n in range(6)]
    assert coming(deployment, "own") == hours
    assert listed(deployment)["own"]["schedule"] == "in shifts of 3600 seconds"
    schedule(deployment)
    assert intervals(runs(deployment, "own")) == hours
    assert coming(deployment, "own") == []
    shown = deployment.ask("dags", "show", "latest")
    assert len(shown["next_runs"]) == 5
    assert shown["timetable_error"] is None


def test_catchup_is_the_same_as_for_other_schedules(deployment: Deployment) -> None:
    ((start, end),) = intervals(runs(deployment, "latest"))
    now = datetime.now(UTC)
    assert end == start + HOUR
    assert now - 2 * HOUR < end <= now
    assert runs(deployment, "later") == []
    assert moment(str(listed(deployment)["later"]["next_run_at"])) > end


def test_a_scheduler_alone_makes_its_runs_on_time(deployment: Deployment) -> None:
    before = len(runs(deployment, "quick"))
    scheduler = deployment.start("schedule")
    wait_until(
        lambda: len(runs(deployment, "quick")) >= before + 3, "three runs, one a second", pause=0.2
    )
    assert scheduler.end() == 0
    found = runs(deployment, "quick")
    made = intervals(found)
    assert all(one[1] == following[0] for one, following in pairwise(made))
    assert {end - start for start, end in made} == {timedelta(seconds=1)}
    assert all(moment(run["queued_at"]) >= moment(run["data_interval_end"]) for run in found)
    assert {run["state"] for run in found} == {"success"}


def test_only_children_of_parsers_are_asked(deployment: Deployment) -> None:
    asked = Path(deployment.folder / "m" / "asked")
    before = asked.stat().st_size
    schedule(deployment)
    for verb in (("next", "own"), ("show", "latest"), ("list",)):
        assert deployment.flow("dags", *verb).code == 0
    said = unpause(deployment, "endless")["endless"]
    assert said["due"] == 256
    assert deployment.flow("dags", "pause", "endless").code == 0
    assert deployment.flow("run", "latest").code == 0
    assert asked.stat().st_size == before
    role = deployment.start("parse")
    wait_until(lambda: "parsing" in role.text(), "the DAG processor")
    write(deployment, tags=("asked",))
    assert role.end() == 0
    assert asked.stat().st_size > before
    pids = {int(line) for line in asked.read_text().split()}
    assert role.process.pid not in pids


def test_the_run_of_an_interval_is_one_that_the_timetable_gave(deployment: Deployment) -> None:
    (own,) = runs(deployment, "latest")[:1]
    start = moment(own["data_interval_start"])
    assert deployment.flow("run", "latest", "--date", start.isoformat()).code == 4
    ahead = (start + 5 * HOUR).isoformat()
    made = deployment.ask("run", "latest", "--date", ahead)
    assert moment(made["data_interval_end"]) == start + 6 * HOUR
    refused = deployment.flow("run", "latest", "--date", (start + 0.5 * HOUR).isoformat())
    assert refused.code == 2
    assert "neighbours" in refused.err


def test_a_rehearsal_knows_its_intervals(deployment: Deployment) -> None:
    done = deployment.flow("test", "dags/own.py:own", "--date", "2024-01-01T03:00", "-o", "json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert moment(result["data_interval_start"]) == START + 3 * HOUR
    assert moment(result["data_interval_end"]) == START + 4 * HOUR


def test_its_failure_is_its_own(deployment: Deployment) -> None:
    version = listed(deployment)["plain"]["version"]
    ahead = coming(deployment, "latest", "-n", "100")
    write(deployment, then="raise LookupError('no calendar for this year')", tags=("new",))
    dags = listed(deployment)
    assert [name for name in sorted(dags) if dags[name]["has_import_error"]] == [
        "endless", "later", "latest", "own", "quick"
    ]  # fmt: skip
    assert dags["plain"]["tags"] == ["new"]
    assert dags["plain"]["version"] != version
    errors = {one["dags"][0]: one for one in deployment.ask("dags", "errors", "--all")}
    assert set(errors) == {"endless", "later", "latest", "own", "quick"}
    assert "LookupError: no calendar for this year" in errors["own"]["error"]
    assert "next_dagrun_info" in deployment.flow("dags", "show", "own").out
    # What was known goes on.
    found = coming(deployment, "latest", "-n", "100")
    assert found == ahead[-len(found) :]
    assert len(found) >= 98
    before = len(runs(deployment, "quick"))
    wait_until(
        lambda: schedule(deployment) or len(runs(deployment, "quick")) > before, "another run"
    )
    write(deployment)
    assert deployment.ask("dags", "errors", "--all") == []


def test_its_end_is_a_warning(deployment: Deployment) -> None:
    write(deployment, then="return None")
    assert deployment.ask("dags", "errors", "--all") == []
    shown = deployment.ask("dags", "show", "endless")
    assert any("'endless'" in one and "no interval" in one for one in shown["warnings"])
    assert not any("'own'" in one for one in shown["warnings"])  # its end date is meant
    assert coming(deployment, "endless") == []
    assert coming(deployment, "plain", "-n", "3")
    write(deployment)
    assert len(coming(deployment, "endless", "-n", "300")) == 256


def test_whatever_happened_the_store_is_sound(deployment: Deployment) -> None:
    """After all others."""
    checked = deployment.flow("db", "check", "--all")
    assert (checked.code, checked.out) == (0, "")
