"""Work that goes on until it is told to end, and the verdict on it.

A DAG with an endless backlog, three runs at a time: a fan-out whose results are pulled, a task
that fails once, and a task in a pool of two slots. Each task of each run marks a file of its own.
Whether something was lost, doubled or overlapped is judged from these files and from /proc; what
the product says of itself is used only to know that it is finished.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from cases import marker_file
from cases.deployment import Deployment, Role
from cases.marker_file import Life, Mark
from flow.store import invariants
from flow.store.connect import connect
from waiting import wait_until

TASKS = ("first", "part_0", "part_1", "part_2", "total", "flaky", "narrow")
_START = "2026-03-01T00:00:00+00:00"
_TEXT = """
from datetime import datetime, timedelta

from flow import DAG, get_current_context, task
from marks import mark, stay


def name():
    context = get_current_context()
    return context["run_id"] + "." + context["ti"].task_id


with DAG(
    "steady",
    schedule="* * * * *",
    start_date=datetime.fromisoformat("{start}"),
    end_date={end},
    catchup=True,
    max_active_runs=3,
    default_args={{"retries": 30, "retry_delay": timedelta(0)}},
):

    @task
    def first():
        stay(0.1, name())

    def make_part(number):
        @task(task_id="part_" + str(number))
        def part():
            stay(0.2, name())
            return number

        return part()

    @task
    def total(parts):
        stay(0.1, name())
        assert parts == [0, 1, 2]

    @task
    def flaky():
        mark("start", name())
        if get_current_context()["ti"].try_number == 1:
            raise RuntimeError("the first try fails")
        mark("end", name())

    @task(pool="narrow")
    def narrow():
        stay(0.1, name())

    parts = [make_part(number) for number in range(3)]
    first() >> parts
    total(parts) >> flaky() >> narrow()
"""


def begin(deployment: Deployment) -> None:
    """Let the backlog run, on roles that are there."""
    done = deployment.flow("pools", "set", "narrow", "2")
    assert done.code == 0, done.err
    _write(deployment, end="None")
    deployment.wait_for_dags("steady")


def end(deployment: Deployment) -> list[str]:
    """Make no further runs, and wait for the end of those that are there; their ids."""
    _write(deployment, end=f'datetime.fromisoformat("{_START}")')
    wait_until(lambda: _over(deployment), "the end of all runs", seconds=90, pause=0.5)
    runs = deployment.ask("runs", "list", "steady", "--all")
    assert [run for run in runs if run["state"] != "success"] == []
    return [run["run_id"] for run in runs]


def _write(deployment: Deployment, end: str) -> None:
    deployment.write("steady.py", _TEXT.format(start=_START, end=end))


def _over(deployment: Deployment) -> bool:
    """Whether the DAG makes no more runs and all of them have ended."""
    with connect(deployment.embedded.dsn, name="case") as conn:
        row = conn.execute(
            """select not exists (select from run where state in ('queued', 'running'))
                 and exists (select from dag where dag_id = 'steady' and next_run_at is null)"""
        ).fetchone()
    return row is not None and bool(row[0])


def judge(deployment: Deployment, runs: Sequence[str]) -> None:
    """No task of these runs was lost, doubled, or ran twice at the same time."""
    assert runs
    wrong = []
    for run_id in runs:
        for task_id in TASKS:
            wrong += [
                f"{run_id} {task_id}: {what}"
                for what in faults_of(deployment.marks(f"{run_id}.{task_id}"))
            ]
    assert wrong == []


def faults_of(marks: list[Mark]) -> list[str]:
    """What is wrong with the life of a task that should have succeeded in the end."""
    lives = marker_file.lives(marks)
    if not lives:
        return ["it never ran"]
    found = [f"two processes at once: {pair}" for pair in marker_file.overlaps(marks)]
    numbers = [life.try_number for life in lives]
    if numbers != sorted(set(numbers)):
        found.append(f"a try was started twice: {numbers}")
    found += [f"not one start: {life}" for life in lives if life.events.count("start") != 1]
    if not _is_whole(lives[-1]):
        found.append(f"the last try did not end: {lives[-1]}")
    return found


def _is_whole(life: Life) -> bool:
    return life.events[0] == "start" and life.events[-1] == "end"


def end_all(deployment: Deployment, up: Role) -> None:
    """Let the roles drain; nothing is left, nothing had to be repaired, no invariant is broken."""
    assert up.end() == 0, up.text()
    wait_until(lambda: not deployment.processes(), "the end of every process")
    for role in deployment.roles:
        check_log(role)
    with connect(deployment.embedded.dsn, name="case") as conn:
        assert invariants.breaches(conn) == []


def check_log(role: Role) -> None:
    """No role died of an error of its own, and the sweep had nothing to repair."""
    text = role.text()
    faults = re.findall(r"Traceback|Flow has a bug.*|exit code.*|.*was forgotten.*", text)
    assert faults == [], "\n".join([*faults, text])


def moment(text: str) -> datetime:
    """A time that a verb has shown."""
    return datetime.fromisoformat(text)
