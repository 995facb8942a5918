"""Doing once, in the zygote, what every child will do: before it forks, and without a trace.

Code that runs for the first time is adapted to what it meets, types get the tags of their caches,
and what is made lazily is made. All of that writes, and each page that a child writes to is copied
by the kernel, for 3 to 5 µs. What has run here before the fork spares every child of it: of the
1,050 copied pages of a small try 250 go, and with them a third of its CPU time.
"""

from __future__ import annotations

import io
import logging
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from flow.authoring import runtime
from flow.process import child, output
from flow.process.channel import Channel
from flow.process.jobs import Job, ParseJob, RunInfo, TaskJob
from flow.process.line_runtime import LineRuntime
from flow.process.messages import Finished
from flow.process.parse import parse
from flow.process.stop import Stop
from flow.process.task import attempt
from flow.states import TaskState

_TURNS: Final = 10
"""Python adapts a function's code once it has been called eight times."""

_TASK: Final = "group.second"
_SAMPLE: Final = '''
from datetime import UTC, datetime, timedelta

from flow import DAG, TaskGroup, chain, get_current_context, task
from flow.operators.bash import BashOperator
from flow.operators.empty import EmptyOperator


@task
def first():
    """What most files hold."""


@task(retries=2, retry_delay=timedelta(minutes=1))
def second(number, day):
    return {"number": number, "day": day, "ds": get_current_context()["ds"]}


with DAG(
    "sample",
    schedule="@daily",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    default_args={"owner": "flow", "retries": 1},
    tags=["sample"],
):
    begin = EmptyOperator(task_id="begin")
    command = BashOperator(task_id="command", bash_command="echo {{ ds }}")
    with TaskGroup("group") as group:
        result = second(1, "{{ ds }}")
    chain(begin, [first.override(task_id=f"first_{n}")() for n in range(3)], command)
    begin >> group
'''
_MOMENT: Final = datetime(2026, 1, 1, tzinfo=UTC)


def up() -> None:
    """Warm this process up; where that fails, say so and leave the children to do it."""
    try:
        with tempfile.TemporaryDirectory(prefix="flow-") as folder, _unchanged():
            file = Path(folder, "sample.py")
            file.write_text(_SAMPLE, encoding="utf-8")
            for _ in range(_TURNS):
                _run(str(file), folder)
    except Exception as error:
        sys.stderr.write(f"flow: cannot warm up: {type(error).__name__}: {error}\n")


def _run(file: str, folder: str) -> None:
    """A try and a parse of the sample, with their words on a line that nobody reads."""
    run = RunInfo(
        dag_id="sample",
        run_id="sample",
        run_type="scheduled",
        logical_date=_MOMENT,
        data_interval_start=_MOMENT,
        data_interval_end=_MOMENT,
        run_after=_MOMENT,
    )
    order = TaskJob(
        run=run, task_id=_TASK, try_number=1, max_tries=1, file=file, root=folder, log=""
    )
    job = msgspec.msgpack.decode(msgspec.msgpack.encode(order), type=Job)
    assert isinstance(job, TaskJob)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child.rehearse()
        line = Channel(ours, name="warm")
        runtime.use(LineRuntime(line))
        outcome = attempt(job, time.monotonic(), Stop(), line)
        if outcome.state != TaskState.SUCCESS:
            raise RuntimeError(outcome.reason)
        parsed, _ = parse(ParseJob(file=file, root=folder))
        for word in (outcome, Finished(peak_rss=0, cpu_time=0.0), parsed):
            line.send(word)


@contextmanager
def _unchanged() -> Iterator[None]:
    """Undo what a try does to its process."""
    environ, path, modules = dict(os.environ), list(sys.path), set(sys.modules)
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    output.log_to(io.StringIO())
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers
        for name in [name for name in sys.modules if name.startswith("dag_file_")]:
            if name not in modules:
                del sys.modules[name]
        sys.path[:] = path
        for name in os.environ.keys() - environ.keys():
            del os.environ[name]
        runtime.use(None)
