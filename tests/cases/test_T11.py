"""T11: dates in templates are UTC, a local form is at hand, and no host's TZ counts anywhere.

`ds`, `ts` and the interval of a run are UTC whatever the zone of its DAG, and
`data_interval_start.in_timezone(dag.timezone)` is local. A date on the command line without an
offset is in the zone of the DAG. A start date without a zone is in the configured default zone. The
same comes out whatever TZ says for the worker, the parser, the scheduler and the command, and what
is printed names its offset.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.scheduled import intervals, moment, runs, schedule

NEEDS: list[str] = []

BREAKS = [
    # ds and its kin follow the zone of the DAG.
    Break(
        "engine/flow/authoring/filters.py",
        'return moment.strftime("%Y-%m-%d") if moment else None',
        'return moment.astimezone().strftime("%Y-%m-%d") if moment else None',
        test="test_template_dates_are_utc_and_have_a_local_form",
    ),
    # A start date without a zone is in the host's.
    Break(
        "engine/flow/authoring/dag.py",
        "        return ZoneInfo(collect.default_timezone())\n",
        '        import os\n\n        return ZoneInfo(os.environ.get("TZ", "UTC"))\n',
        test="test_a_naive_start_date_is_in_the_configured_zone",
    ),
    # A date on the command line is in the command's own zone.
    Break(
        "engine/flow/ops/running.py",
        "    zone = load_zone(spec.timezone)\n    if wish.date is not None:\n",
        "    zone = now.astimezone().tzinfo or now.tzinfo\n    if wish.date is not None:\n",
        test="test_a_date_without_an_offset_is_in_the_zone_of_the_dag",
    ),
]

HOSTS: Final = ("Asia/Tokyo", "America/Los_Angeles", "UTC")
"""TZ of the roles is the first one, of the commands any."""
DATES: Final = {
    # Zone, local day of the run, and what is UTC then.
    "Europe/Amsterdam": (
        ("2024-07-01", "2024-06-30", "2024-06-30T22:00:00+00:00"),
        ("2024-03-31", "2024-03-30", "2024-03-30T23:00:00+00:00"),  # clocks go forward
        ("2024-10-28", "2024-10-27", "2024-10-27T23:00:00+00:00"),
    ),
    "America/Los_Angeles": (("2024-07-01", "2024-07-01", "2024-07-01T07:00:00+00:00"),),
    "Asia/Kolkata": (("2024-07-01", "2024-06-30", "2024-06-30T18:30:00+00:00"),),
}
CASES: Final = [(zone, *case) for zone, cases in DATES.items() for case in cases]
OFFSET: Final = re.compile(r"\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d|Z)?")

DAG: Final = """
    from datetime import datetime
    from zoneinfo import ZoneInfo
    from flow import DAG, task
    from flow.operators.bash import BashOperator

    ZONES = {zones!r}
    START = {{"year": 2024, "month": 1, "day": 1}}

    @task
    def say(**context):
        start = context["data_interval_start"]
        local = start.in_timezone(context["dag"].timezone)
        print("python", context["ds"], context["ts"], local.to_date_string())

    def dag(dag_id, start):
        with DAG(dag_id, schedule="0 0 * * *", start_date=start, catchup=False):
            BashOperator(
                task_id="echo",
                bash_command="echo bash {{{{ ds }}}} {{{{ ts }}}}"
                " {{{{ data_interval_start.in_timezone(dag.timezone) | ds }}}}"
                "; echo host $TZ",
            )
            say()

    for name in ZONES:
        dag(name.rpartition("/")[2], datetime(**START, tzinfo=ZoneInfo(name)))
    """

NAIVE: Final = """
    from datetime import datetime
    from flow import DAG
    from flow.operators.empty import EmptyOperator

    with DAG("naive", schedule="0 0 * * *", start_date=datetime(2024, 6, 1),
             end_date=datetime(2024, 6, 3), catchup=True):
        EmptyOperator(task_id="nothing")
    with DAG("undated", schedule="0 0 * * *", catchup=False):
        EmptyOperator(task_id="nothing")
    """


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    with deployed() as made:
        made.write("local.py", DAG.format(zones=list(DATES)))
        made.up(TZ=HOSTS[0])
        made.wait_for_dags(*(dag_id(zone) for zone in DATES))
        yield made


def dag_id(zone: str) -> str:
    return zone.rpartition("/")[2]


def said(log: str, word: str) -> list[str]:
    """What follows a word in the one line of a log that has it."""
    (line,) = (line for line in log.splitlines() if f"{word} " in line)
    return line.partition(f"{word} ")[2].split()


@pytest.mark.parametrize(("zone", "day", "ds", "ts"), CASES)
def test_template_dates_are_utc_and_have_a_local_form(
    deployment: Deployment, zone: str, day: str, ds: str, ts: str
) -> None:
    run = deployment.run_to_end(dag_id(zone), "--date", f"{day}T00:00")
    assert run["state"] == "success"
    assert moment(run["logical_date"]) == moment(ts)
    for word, task_id in (("bash", "echo"), ("python", "say")):
        log = deployment.flow("logs", dag_id(zone), run["run_id"], task_id, TZ=HOSTS[1])
        assert log.code == 0, log.err
        assert said(log.out, word) == [ds, ts, day]
        if word == "bash":  # the host of the task was really somewhere else
            assert said(log.out, "host") == [HOSTS[0]]


def test_what_is_rendered_without_a_run_is_the_same(deployment: Deployment) -> None:
    zone, day, ds, ts = CASES[0]
    for host in HOSTS:
        done = deployment.flow(
            "tasks", "render", dag_id(zone), "echo", "--date", day, "-o", "json", TZ=host
        )
        assert done.code == 0, done.err
        rendered: dict[str, Any] = json.loads(done.out)
        assert rendered["fields"]["bash_command"].startswith(f"echo bash {ds} {ts} {day};")


@pytest.mark.parametrize("host", HOSTS)
def test_a_rehearsal_is_the_same(deployment: Deployment, host: str) -> None:
    zone, day, ds, ts = CASES[0]
    done = deployment.flow("test", f"dags/local.py:{dag_id(zone)}", "--date", day, TZ=host)
    assert done.code == 0, done.err
    output = done.out + done.err
    assert said(output, "bash") == said(output, "python") == [ds, ts, day]


def test_a_date_without_an_offset_is_in_the_zone_of_the_dag(deployment: Deployment) -> None:
    """One day, spelt in three ways by commands on three hosts: one run."""
    spelt = ("2024-08-10", "2024-08-10T00:00", "2024-08-09T22:00Z")
    ended = [
        deployment.flow("run", "Amsterdam", "--date", text, TZ=host)
        for text, host in zip(spelt, HOSTS, strict=True)
    ]
    assert [one.code for one in ended] == [0, 4, 4]
    for host in HOSTS:
        shown = deployment.flow("runs", "show", "Amsterdam", "2024-08-10", "-o", "json", TZ=host)
        assert json.loads(shown.out)["run_id"] == ended[0].out.strip()


def test_what_is_printed_names_its_offset_and_follows_no_host(deployment: Deployment) -> None:
    deployment.wait_for_run("Amsterdam", deployment.run("Amsterdam", "--date", "2024-08-12"))
    for verb in (("runs", "list", "Amsterdam"), ("runs", "show", "Amsterdam", "2024-08-12")):
        texts = {deployment.flow(*verb, TZ=host).out for host in HOSTS}
        assert len(texts) == 1
        times = list(OFFSET.finditer(texts.pop()))
        assert times
        assert all(found.group(2) for found in times)


@pytest.mark.parametrize("zone", ["Europe/Amsterdam", "America/Los_Angeles", "UTC"])
def test_a_naive_start_date_is_in_the_configured_zone(zone: str) -> None:
    with deployed({"dags.default_timezone": zone}) as made:
        assert made.flow("db", "migrate").code == 0
        made.write("naive.py", NAIVE)
        assert made.flow("parse", "--once", TZ=HOSTS[0]).code == 0
        listed = made.ask("dags", "list", "--all")
        assert {dag["timezone"] for dag in listed} == {zone}
        assert made.flow("schedule", "--once", TZ=HOSTS[1]).code == 0
        midnights = [
            datetime(2024, 6, day, tzinfo=ZoneInfo(zone)).astimezone(UTC) for day in (1, 2, 3, 4)
        ]
        assert intervals(runs(made, "naive")) == list(pairwise(midnights))
        # Without a start date, too, a day is a day of that zone.
        schedule(made)
        (run,) = runs(made, "undated")
        local = moment(run["data_interval_end"]).astimezone(ZoneInfo(zone))
        assert (local.hour, local.minute) == (0, 0)
        done = made.flow("test", "dags/naive.py:naive", "--date", "2024-06-02", "-o", "json")
        assert done.code == 0, done.err
        assert moment(json.loads(done.out)["logical_date"]) == midnights[1]
