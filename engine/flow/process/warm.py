"""Doing once, in the zygote, what every child will do: before it forks, and without a trace.

Code that runs for the first time is adapted to what it meets, types get the tags of their caches,
and what is made lazily is made. All of that writes, and each page that a child writes to is copied
by the kernel, for 3 to 5 µs. What has run here before the fork spares every child of it, and shows
which code belongs side by side (`flow.process.placement`). So a small try copies 410 pages less, of
1,340.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import CodeType
from typing import Final

import msgspec

from flow import faults
from flow.authoring import runtime
from flow.process import child, finish, heap, placement, prctl
from flow.process.channel import Channel
from flow.process.compiled import CompiledFiles
from flow.process.jobs import ParseJob, RunInfo, TaskJob
from flow.process.line_runtime import LineRuntime
from flow.process.messages import FromChild, Outcome
from flow.process.parse import parse
from flow.process.wire import DEFAULT_LIMIT, Line
from flow.states import TaskState

_TURNS: Final = 10
"""Python adapts a function's code once it has been called eight times."""

_TASKS: Final = ("first_0", "group.second")
"""One that returns nothing, and one that returns a value."""
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
_RUN: Final = RunInfo(
    dag_id="sample",
    run_id="sample",
    run_type="scheduled",
    logical_date=_MOMENT,
    data_interval_start=_MOMENT,
    data_interval_end=_MOMENT,
    run_after=_MOMENT,
    started_at=_MOMENT,
    version=1,
)

_decoder = msgspec.msgpack.Decoder(FromChild)


def up() -> None:
    """Warm this process up; where that fails, say so and leave the children to do it."""
    try:
        with tempfile.TemporaryDirectory(prefix="flow-") as folder, _unchanged():
            file = Path(folder, "sample.py")
            file.write_text(_SAMPLE, encoding="utf-8")
            files = CompiledFiles()
            codes = _settling()
            with placement.noting(codes):
                _run(str(file), folder, files)
            heap.fill()
            placement.gather(codes)
            _forget_types()
            for _ in range(_TURNS):
                _run(str(file), folder, files)
            files.close()
    except Exception as error:
        sys.stderr.write(f"flow: cannot warm up: {type(error).__name__}: {error}\n")


def _forget_types() -> None:
    """Empty Python's cache of what types have: what is found anew takes the place of nothing.

    Else a child that takes the place of a name counts down who refers to that, on whatever page.
    """
    clear = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache
    clear()


def _settling() -> list[CodeType]:
    """What a child runs from its fork until it waits for its order, told by one that does."""
    reader, writer = os.pipe()
    zygote = os.getpid()
    codes: list[CodeType] = []
    with placement.noting(codes):
        pid = os.fork()
        if pid == 0:
            try:
                child.settle(writer, zygote)
                # What it has forked with lies at the same addresses here and there.
                os.write(writer, array("Q", map(id, codes)).tobytes())
            finally:
                os._exit(0)
    os.close(writer)
    with open(reader, "rb") as told:  # noqa: PTH123 - a descriptor
        addresses = array("Q", told.read())
    os.waitpid(pid, 0)
    return placement.living(addresses)


def _run(file: str, folder: str, files: CompiledFiles) -> None:
    """Two tries and a parse of the sample, as children do them."""
    child.become_child(os.getppid(), signal.valid_signals())
    for task_id in _TASKS:
        _try(file, folder, task_id, files)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        runtime.use(LineRuntime(line := Channel(ours)))
        parsed, _ = parse(ParseJob(file=file, root=folder))
        line.send(parsed)


def _try(file: str, folder: str, task_id: str, files: CompiledFiles) -> None:
    """A try of a task of the sample, from its order to its last word."""
    job = TaskJob(
        run=_RUN,
        task_id=task_id,
        try_number=1,
        max_tries=1,
        file=file,
        root=folder,
        log=str(Path(folder, "log")),
        xcom_limit=DEFAULT_LIMIT,
        env={"FLOW_SAMPLE": "sample"},
    )
    order, zygote = socket.socketpair()
    ours, theirs = socket.socketpair()
    with order, zygote, ours, theirs:
        memory = files.memory_for(file, time.monotonic())
        child.pass_order(zygote, msgspec.msgpack.encode(job), theirs.fileno(), memory)
        work = child.await_work(order, DEFAULT_LIMIT)
        assert work is not None
        child.carry_out(work, child.ENTRIES)
        finish.announce(work.line)
        gc.enable()  # a last word stops it, and then garbage would lie between what stays
        work.line.close()
        Path(job.log).unlink()  # the next try finds none, as most do
        said = Line(ours, _decoder, name="warm").receive()
    outcome = next((word for word in said if isinstance(word, Outcome)), None)
    if outcome is None or outcome.state != TaskState.SUCCESS:
        raise RuntimeError(outcome.reason if outcome else "the sample did not say how it ended")


@contextmanager
def _unchanged() -> Iterator[None]:
    """Undo what a try does to its process, which is as good as dead afterwards."""
    environ, path, modules = dict(os.environ), list(sys.path), set(sys.modules)
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    handlers_before = {
        number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGCHLD)
    }
    outputs = [(descriptor, os.dup(descriptor)) for descriptor in (1, 2)]
    try:
        with faults.suspended():
            yield
    finally:
        for descriptor, kept in outputs:
            os.dup2(kept, descriptor)
            os.close(kept)
        for number, handler in handlers_before.items():
            signal.signal(number, handler)
        prctl.outlive_parent()
        prctl.set_name(child.ZYGOTE)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        root.setLevel(level)
        root.handlers[:] = handlers
        for name in [name for name in sys.modules if name.startswith("dag_file_")]:
            if name not in modules:
                del sys.modules[name]
        sys.path[:] = path
        for name in os.environ.keys() - environ.keys():
            del os.environ[name]
        runtime.use(None)
