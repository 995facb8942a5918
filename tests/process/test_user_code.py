"""User code under the real host: what its supervisor sees of every kind of end."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from flow.graph import decode
from flow.process.events import ChildMessage
from flow.process.host import Host
from flow.process.jobs import CallbackJob, ParseJob, RenderJob, RunInfo, TaskJob
from flow.process.messages import (
    Done,
    GetPreviousSuccess,
    GetVariable,
    Outcome,
    Parsed,
    PreviousRun,
    Refused,
    Rendered,
    StillCounts,
    Value,
)
from process.watched import Watched

FILE = """
import os, signal, sys, time
from datetime import datetime
from flow import DAG, BaseOperator, task
from flow.operators.bash import BashOperator

def told(context):
    print("CALLBACK", context["ti"].task_id, context["reason"])

with DAG("ends", schedule=None, start_date=datetime(2026, 1, 1),
         default_args={"on_failure_callback": told}) as dag:
    ENDS = {
        "sys_exit_0": lambda: sys.exit(0),
        "sys_exit": lambda: sys.exit(),
        "sys_exit_3": lambda: sys.exit(3),
        "sys_exit_text": lambda: sys.exit("msg"),
        "exit_0": lambda: exit(0),
        "_exit_0": lambda: os._exit(0),
        "_exit_3": lambda: os._exit(3),
        "segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
        "interrupt": lambda: signal.raise_signal(signal.SIGINT),
        "recursion": lambda: (lambda f: f(f))(lambda f: f(f)),
        "two": lambda: 2,
    }
    for name, end in ENDS.items():
        task(task_id=name)(end)()
    BashOperator(task_id="bash_99", bash_command="exit 99")
    BashOperator(task_id="bash_true", bash_command="false; true")

    @task
    def asks(**context):
        from flow import Variable
        return [Variable.get("colour"), Variable.get("none", None), context["ds"]]
    asks()

    class Kept(BaseOperator):
        def execute(self, context):
            print("READY", flush=True)
            time.sleep(3600)
        def on_kill(self):
            print("ON_KILL")
    Kept(task_id="kept")
"""
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
RUN = RunInfo(
    dag_id="ends",
    run_id="run",
    run_type="manual",
    logical_date=MOMENT,
    data_interval_start=MOMENT,
    data_interval_end=MOMENT,
    run_after=MOMENT,
)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    (tmp_path / "ends.py").write_text(FILE)
    with closing(Host(f"test-{os.getpid()}")) as host:
        watched = Watched(host, tmp_path)
        watched.answers = lambda event: reply(host, event)
        yield watched


def reply(host: Host, event: ChildMessage) -> None:
    match event.message:
        case GetVariable(key="colour"):
            host.reply(event.job_id, Value(value="blue"))
        case StillCounts():
            host.reply(event.job_id, Done())
        case GetPreviousSuccess():
            host.reply(event.job_id, PreviousRun())
        case GetVariable():
            host.reply(event.job_id, Refused(error="no such variable", missing=True))


def job(watched: Watched, task_id: str) -> TaskJob:
    return TaskJob(
        run=RUN,
        task_id=task_id,
        try_number=1,
        max_tries=1,
        file=str(watched.folder / "ends.py"),
        root=str(watched.folder),
        log=str(watched.folder / f"{task_id}.log"),
    )


ENDS: dict[str, Any] = {
    "sys_exit_0": ("success", None),
    "sys_exit": ("success", None),
    "sys_exit_3": ("failed", "exit code 3"),
    "sys_exit_text": ("failed", "exit code 1: msg"),
    "exit_0": ("success", None),
    "_exit_0": (0, None),
    "_exit_3": (3, None),
    "segfault": (None, signal.SIGSEGV),
    "interrupt": ("failed", "KeyboardInterrupt"),
    "recursion": ("failed", "RecursionError: maximum recursion depth exceeded"),
    "two": ("success", None),
    "bash_99": ("skipped", "exit code 99"),
    "bash_true": ("success", None),
}


def test_every_kind_of_end(watched: Watched) -> None:
    jobs = {name: watched.host.start(job(watched, name)) for name in ENDS}
    for name, job_id in jobs.items():
        ended = watched.end_of(job_id)
        if isinstance(ended.result, Outcome):
            assert (ended.result.state, ended.result.reason) == ENDS[name], name
            assert (ended.exit_code, ended.signal) == (0, None), name
            failed = ended.result.state == "failed"
            called = f"CALLBACK {name}" in (watched.folder / f"{name}.log").read_text()
            assert called is failed, name
        else:
            assert (ended.exit_code, ended.signal) == ENDS[name], name


def test_a_task_asks_its_supervisor(watched: Watched) -> None:
    job_id = watched.host.start(job(watched, "asks"))
    assert watched.value_of(job_id) == ["blue", None, "2026-01-01"]


def test_a_stop_runs_on_kill_and_nothing_else(watched: Watched) -> None:
    job_id = watched.host.start(job(watched, "kept"))
    log = watched.folder / "kept.log"
    watched.wait_until(lambda: log.exists() and "READY" in log.read_text(), "the task")
    watched.host.stop(job_id, 60)
    ended = watched.end_of(job_id)
    assert (ended.result, ended.signal, ended.killed) == (None, signal.SIGTERM, "stop")
    text = log.read_text()
    assert text.count("ON_KILL") == 1
    assert "CALLBACK" not in text


def test_parse_render_and_callback(watched: Watched) -> None:
    file, root = str(watched.folder / "ends.py"), str(watched.folder)
    parsing = watched.host.start(ParseJob(file=file, root=root))
    log_of_callback = watched.folder / "callback.log"
    log_of_callback.write_text("before its worker died\n")
    rendering = watched.host.start(RenderJob(run=RUN, task_id="bash_99", file=file, root=root))
    calling = watched.host.start(
        CallbackJob(
            run=RUN,
            task_id="two",
            file=file,
            root=root,
            kind="failure",
            reason="worker_lost",
            log=str(log_of_callback),
        )
    )
    parsed = watched.end_of(parsing).result
    assert isinstance(parsed, Parsed)
    assert [decode(spec).dag_id for spec in parsed.specs] == ["ends"]
    rendered = watched.end_of(rendering).result
    assert isinstance(rendered, Rendered)
    assert json.loads(rendered.fields)["bash_command"] == "exit 99"
    called = watched.end_of(calling).result
    assert isinstance(called, Outcome)
    assert called.state == "success"
    said = log_of_callback.read_text()
    assert said.startswith("before its worker died\n")
    assert "CALLBACK two worker_lost" in said
