"""T07: an end date is inclusive on the logical date, and a task's own dates concern the task alone.

A run is made exactly when its interval starts at or before the end date, and nothing comes after.
In runs outside of its own start and end date a task is passed over: it is skipped when its turn
comes, and what waits for it goes on as after a success. `flow test` decides the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from cases.breaks import Break
from cases.deployment import OVER, Deployment, deployed
from cases.scheduled import Interval, by_dag, intervals, moment, runs, schedule, unpause
from waiting import wait_until

NEEDS: list[str] = []

BREAKS = [
    # The last legal interval is dropped.
    Break(
        "engine/flow/timetables/plan.py",
        "interval.start > as_utc(end_date)",
        "interval.end > as_utc(end_date)",
        test="test_the_end_date_is_inclusive_on_the_logical_date",
    ),
    # There is one too many.
    Break(
        "engine/flow/timetables/plan.py",
        "interval.start > as_utc(end_date)",
        "interval.start > as_utc(end_date) + (interval.end - interval.start)",
        test="test_the_end_date_is_inclusive_on_the_logical_date",
    ),
    # A task's dates are forgotten.
    Break(
        "engine/flow/decide/run.py",
        "            if passed_over is not None:\n",
        "            if passed_over is None and spec.has_window:\n",
        test="test_outside_of_its_window_only_the_task_itself_does_not_run",
    ),
    # They end what comes after it, too.
    Break(
        "engine/flow/decide/run.py",
        "TaskState.SUCCESS if id in passed_over else",
        "TaskState.SKIPPED if id in passed_over else",
        test="test_outside_of_its_window_only_the_task_itself_does_not_run",
    ),
]

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
START: Final = datetime(2015, 1, 1, tzinfo=UTC)
TICK: Final = timedelta.resolution

ENDS: Final = {
    # End date, and how many hourly runs there are from START on.
    "inclusive": (START + 2 * HOUR, 3),
    "just_before": (START + 2 * HOUR - TICK, 2),
    "just_after": (START + 2 * HOUR + TICK, 3),
    "at_start": (START, 1),
    "before_start": (START - HOUR, 0),
}
FORMS: Final = {
    "cron": ("'@hourly'", "end_date={end}"),
    "delta": ("timedelta(hours=1)", "end_date={end}"),
    "default": ("'@hourly'", "default_args=dict(end_date={end})"),
}
DAG: Final = """
with DAG({dag_id!r}, schedule={schedule}, start_date={start!r}, catchup=True, {end}):
    EmptyOperator(task_id="nothing")
"""
HEAD: Final = """
from datetime import datetime, timedelta, UTC
from flow import DAG
from flow.operators.empty import EmptyOperator
"""

DAYS: Final = 5
FIRST: Final = datetime(2024, 3, 1, tzinfo=UTC)
INSIDE: Final = ("2024-03-02", "2024-03-03", "2024-03-04")

WINDOWS: Final = """
    from datetime import datetime
    from flow import DAG, get_current_context, task
    from marks import mark

    LIMITED = dict(start_date=datetime(2024, 3, 2), end_date=datetime(2024, 3, 4))

    def say():
        context = get_current_context()
        mark(f"{context['ti'].task_id} {context['ds']}", context["dag_run"].dag_id)

    def chain(dag_id, *task_ids):
        with DAG(dag_id, schedule="@daily", start_date=datetime(2024, 3, 1),
                 end_date=datetime(2024, 3, 5), catchup=True) as dag:
            made = [
                task(task_id=task_id, **(LIMITED if "limited" in task_id else {}))(say)()
                for task_id in task_ids
            ]
            for above, below in zip(made, made[1:]):
                above >> below

    chain("middle", "before", "limited", "after")
    chain("root", "limited", "after")
    chain("leaf", "before", "limited")
    chain("several", "limited_1", "limited_2", "after")
    chain("only", "limited")
    """
CHAINS: Final = {
    "middle": ("before", "limited", "after"),
    "root": ("limited", "after"),
    "leaf": ("before", "limited"),
    "several": ("limited_1", "limited_2", "after"),
    "only": ("limited",),
}


def dag_id(form: str, end: str) -> str:
    return f"{form}_{end}"


@pytest.fixture(scope="module")
def ended() -> Iterator[Deployment]:
    """A deployment with a DAG for each form of schedule and each end date, scheduled to idle."""
    with deployed() as made:
        assert made.flow("db", "migrate").code == 0
        text = HEAD
        for form, (chosen, argument) in FORMS.items():
            for name, (end, _) in ENDS.items():
                text += DAG.format(
                    dag_id=dag_id(form, name),
                    schedule=chosen,
                    start=START.isoformat(),
                    end=argument.format(end=repr(end.isoformat())),
                )
        made.write("ends.py", text)
        made.parse()
        schedule(made)
        yield made


def hours(count: int) -> list[Interval]:
    return [(START + number * HOUR, START + (number + 1) * HOUR) for number in range(count)]


@pytest.mark.parametrize("form", FORMS)
def test_the_end_date_is_inclusive_on_the_logical_date(ended: Deployment, form: str) -> None:
    for name, (_, count) in ENDS.items():
        assert intervals(runs(ended, dag_id(form, name))) == hours(count), name


def test_nothing_comes_after_the_last_run(ended: Deployment) -> None:
    before = by_dag(ended)
    for _ in range(10):
        schedule(ended)
    dag_ids = [dag["dag_id"] for dag in ended.ask("dags", "list", "--all")]
    assert ended.flow("dags", "pause", *dag_ids).code == 0
    said = unpause(ended, *dag_ids)
    assert {one["due"] for one in said.values()} == {0}
    schedule(ended)
    assert by_dag(ended) == before
    assert {dag["next_run_at"] for dag in ended.ask("dags", "list", "--all")} == {None}


def test_a_later_end_date_lets_it_go_on(ended: Deployment) -> None:
    """The definition that counts is the current one: nothing is made twice, nothing left out."""
    ended.write(
        "later.py",
        HEAD
        + DAG.format(dag_id="later", schedule="'@hourly'", start=START.isoformat(),
                     end=f"end_date={(START + HOUR).isoformat()!r}"),
    )  # fmt: skip
    for count in (2, 5, 4):
        path = ended.dags / "later.py"
        end = (START + (count - 1) * HOUR).isoformat()
        lines = [
            line.split("end_date=")[0] + f"end_date={end!r}):" if "end_date=" in line else line
            for line in path.read_text().splitlines()
        ]
        ended.write("later.py", "\n".join(lines) + "\n")
        ended.parse()
        schedule(ended)
        assert intervals(runs(ended, "later")) == hours(max(count, 5 if count == 4 else 0))


@pytest.fixture(scope="module")
def windowed() -> Iterator[Deployment]:
    """A deployment in which the chains have run to their end."""
    with deployed({"worker.slots": 4}) as made:
        made.write("windows.py", WINDOWS)
        made.up()
        made.wait_for_dags(*CHAINS)

        def over() -> bool:
            found = made.ask("runs", "list", "--all")
            return len(found) == DAYS * len(CHAINS) and {run["state"] for run in found} <= OVER

        wait_until(over, "the end of all runs", seconds=120, pause=0.5)
        yield made


@pytest.mark.parametrize("chain", CHAINS)
def test_outside_of_its_window_only_the_task_itself_does_not_run(
    windowed: Deployment, chain: str
) -> None:
    found = runs(windowed, chain)
    assert [run["data_interval_start"][:10] for run in found] == [
        (FIRST + number * DAY).date().isoformat() for number in range(DAYS)
    ]
    assert {run["state"] for run in found} == {"success"}
    marked = {mark.event for mark in windowed.marks(chain)}
    expected = set()
    for run in found:
        day = run["data_interval_start"][:10]
        states = windowed.states(chain, run["run_id"])
        for task_id in CHAINS[chain]:
            runs_now = "limited" not in task_id or day in INSIDE
            assert states[task_id] == ("success" if runs_now else "skipped"), (day, task_id)
            if runs_now:
                expected.add(f"{task_id} {day}")
            else:
                assert windowed.tries(chain, run["run_id"], task_id) == []
    assert marked == expected


def test_the_order_of_the_others_is_kept(windowed: Deployment) -> None:
    """What is after the task is also after what is before it."""
    at = {mark.event: mark.at for mark in windowed.marks("middle")}
    for number in range(DAYS):
        day = (FIRST + number * DAY).date().isoformat()
        assert at[f"before {day}"] < at[f"after {day}"]


@pytest.mark.parametrize(("date", "state"), [("2024-03-04", "success"), ("2024-03-05", "skipped")])
def test_a_rehearsal_decides_the_same(windowed: Deployment, date: str, state: str) -> None:
    done = windowed.flow("test", "dags/windows.py:middle", "--date", date, "-o", "json")
    assert done.code == 0, done.err
    result: dict[str, Any] = json.loads(done.out)
    states = {task["task_id"]: task["state"] for task in result["tasks"]}
    assert states == {"before": "success", "limited": state, "after": "success"}


def test_a_run_by_hand_has_the_same_windows(windowed: Deployment) -> None:
    """Also for a date that the schedule does not reach any more."""
    run = windowed.run_to_end("middle", "--date", "2024-03-09")
    assert moment(run["logical_date"]) == datetime(2024, 3, 9, tzinfo=UTC)
    assert run["state"] == "success"
    assert windowed.states("middle", run["run_id"])["limited"] == "skipped"
