"""Conditions over the fields of runs and of tasks: which part decides what, and whose a name is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from flow.errors import UsageError
from flow.ops.task_conditions import read_condition
from flow.store.read.runs import Run
from flow.store.read.tasks import Task

NOW = datetime(2026, 10, 9, 12, tzinfo=UTC)
RUN = Run(
    dag_id="sales", run_id="it", run_type="manual", state="failed", logical_date=NOW,
    data_interval_start=NOW, data_interval_end=NOW, queued_at=NOW, started_at=NOW, ended_at=NOW,
    version=3, conf={}, backfill_id=None, note=None,
)  # fmt: skip
TASK = Task(
    dag_id="sales", run_id="it", task_id="load", map_index=[2], state="success", try_number=2,
    max_tries=4, pool="wide", pool_slots=1, queue="default", executor="local", priority=1,
    scheduled_at=NOW, queued_at=NOW, started_at=None, ended_at=None, worker=None,
    operator="BashOperator", held=False,
)  # fmt: skip


def read(text: str, **task: Any) -> tuple[bool, bool]:
    """Whether the run fits, and whether the task of a run that fits does."""
    condition = read_condition(text, ZoneInfo("UTC"), NOW)
    return condition.fits_run(RUN), condition.fits_task(RUN, TASK._replace(**task))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("state=failed", (True, True)),
        ("state=success", (False, True)),
        ("run.state=failed and task.state=success", (True, True)),
        ("task.state=failed", (True, False)),
        ("state=success and operator=PythonOperator", (False, False)),
        ("state=success or operator=BashOperator", (True, True)),
        ("state=success or operator=PythonOperator", (True, False)),
        ("(version=3 or version=4) and try_number>=2", (True, True)),
        ("not (version=3 and try_number>=2)", (True, False)),
        ("version=4 and (version=3 or try_number>=2)", (False, True)),
        ("task=load and map_index=2", (True, True)),
        ("map_index=1", (True, False)),
        ("started_at=null", (False, True)),
        ("task.started_at=null", (True, True)),
    ],
)
def test_runs_decide_what_is_said_of_them_alone(text: str, expected: tuple[bool, bool]) -> None:
    assert read(text) == expected


def test_only_conditions_on_tasks_need_them() -> None:
    condition = read_condition("version=3 and state=failed", ZoneInfo("UTC"), NOW)
    assert condition.of_tasks == []


def test_a_name_that_neither_has() -> None:
    with pytest.raises(UsageError, match=r"no field 'task\.version'"):
        read("task.version=3")
