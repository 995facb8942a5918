"""Callbacks of tasks whose process died, and of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flow.process.callback import run_callback
from flow.process.jobs import CallbackJob, LastTask
from support.jobs import Ended, dag_file, run, run_info

BODY = """
def note(context):
    ti = context.get("ti")
    print("CALLED", ti and (ti.task_id, ti.state, ti.try_number), context["dag_run"].run_type,
          context["reason"], context["exception"], context["ds"])
def broken(context):
    raise ValueError("x")
dag.on_failure_callback = (note,)
dag.on_success_callback = (broken, note)
@task(on_failure_callback=note, on_retry_callback=[broken])
def t(): ...
t()
"""


def call(folder: Path, body: str = BODY, **given: Any) -> Ended:
    file = dag_file(folder, body)
    facts = {"kind": "failure", "reason": "worker_lost", "task_id": "t"}
    job = CallbackJob(run=run_info(), file=str(file), log=str(folder / "log"), **(facts | given))
    return run(run_callback, job, folder / "log")


def test_of_a_task(tmp_path: Path) -> None:
    ended = call(tmp_path)
    assert "CALLED ('t', 'running', 0) scheduled worker_lost None 2026-10-09\n" in ended.log
    assert (ended.outcome.state, ended.outcome.reason) == ("success", None)


def test_of_a_run(tmp_path: Path) -> None:
    ended = call(tmp_path, task_id=None)
    assert "CALLED None scheduled worker_lost None 2026-10-09\n" in ended.log


def test_of_a_run_sees_its_last_task(tmp_path: Path) -> None:
    last = LastTask(task_id="t", state="failed", try_number=3, max_tries=3)
    ended = call(tmp_path, task_id=None, last=last)
    assert "CALLED ('t', 'failed', 3) scheduled worker_lost None 2026-10-09\n" in ended.log


def test_of_a_run_is_called_though_its_last_task_is_gone(tmp_path: Path) -> None:
    last = LastTask(task_id="gone", state="failed", try_number=1, max_tries=1)
    assert "CALLED None scheduled" in call(tmp_path, task_id=None, last=last).log


def test_one_that_fails_is_told_and_the_others_are_called(tmp_path: Path) -> None:
    ended = call(tmp_path, task_id=None, kind="success")
    assert "CALLED None" in ended.log
    assert (ended.outcome.state, ended.outcome.reason) == (
        "failed",
        "callback broken failed: ValueError: x",
    )


def test_none_is_success(tmp_path: Path) -> None:
    assert call(tmp_path, kind="skipped").outcome.state == "success"


def test_code_that_is_gone_is_told(tmp_path: Path) -> None:
    ended = call(tmp_path, task_id="gone")
    assert ended.outcome.state == "failed"
    assert "task 'gone' is not in DAG" in (ended.outcome.reason or "")
    assert call(tmp_path, "1 / 0").outcome.reason == "ZeroDivisionError: division by zero"
