"""Jobs, and the process that a host would fork for them."""

from __future__ import annotations

import faulthandler
import io
import os
import socket
import struct
import sys
import textwrap
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from flow.authoring.runtime import FoundXCom
from flow.errors import NotFound
from flow.process import output
from flow.process.jobs import RunInfo, TaskJob
from flow.process.messages import (
    CodeFound,
    DeleteVariable,
    Done,
    FromChild,
    GetConnection,
    GetPreviousSuccess,
    GetSchedulePosition,
    GetVariable,
    Message,
    Outcome,
    PreviousRun,
    PullXCom,
    PushXCom,
    Refused,
    SchedulePosition,
    SetVariable,
    StillCounts,
    ToChild,
    Value,
    XComs,
    XComValue,
)
from support.runtime import MemoryRuntime
from support.tries import DAY
from waiting import limit

_from_child = msgspec.msgpack.Decoder(FromChild)
_to_child = msgspec.msgpack.Decoder(ToChild)
_SIZE = struct.Struct(">I")

HEADER = """
from datetime import datetime, timedelta, timezone
import os, sys, signal, time
from flow import DAG, task, BaseOperator
from flow.operators.bash import BashOperator
from flow.operators.python import PythonOperator
from flow.exceptions import AirflowFailException, AirflowSkipException

dag = DAG("daily", schedule="@daily", start_date=datetime(2026, 1, 1))
"""


def run_info(**given: Any) -> RunInfo:
    """The run of 9 October 2026 of DAG `daily`."""
    facts: dict[str, Any] = {
        "dag_id": "daily",
        "run_id": "scheduled__2026-10-09T00:00:00+00:00",
        "run_type": "scheduled",
        "logical_date": DAY,
        "data_interval_start": DAY,
        "data_interval_end": DAY.replace(day=10),
        "run_after": DAY.replace(day=10),
        "started_at": DAY.replace(day=10),
    }
    return RunInfo(**(facts | given))


def dag_file(folder: Path, body: str, name: str = "daily.py") -> Path:
    """A file with DAG `daily`; `body` stands in its `with`."""
    file = folder / name
    file.write_text(f"{HEADER}\nwith dag:\n{textwrap.indent(textwrap.dedent(body), '    ')}")
    return file


def task_job(file: Path, task_id: str = "t", **given: Any) -> TaskJob:
    """The first of one try of a task of `file`."""
    facts: dict[str, Any] = {"run": run_info(), "try_number": 1, "max_tries": 1}
    return TaskJob(
        task_id=task_id, file=str(file), log=str(file.with_suffix(".log")), **(facts | given)
    )


def answer(memory: MemoryRuntime, request: Message) -> ToChild:
    """What a supervisor that has what is in `memory` answers."""
    try:
        match request:
            case PushXCom(key=key, value=value):
                memory.push_xcom(key, value)
                memory.xcoms.append((key, FoundXCom("t", (), value)))  # `t` is the task that runs
            case SetVariable(key=key, value=value, description=description):
                memory.set_variable(key, value, description)
            case DeleteVariable(key=key):
                memory.delete_variable(key)
            case GetVariable(key=key):
                return Value(value=memory.get_variable(key))
            case GetConnection(conn_id=conn_id):
                return Value(value=memory.get_connection(conn_id))
            case GetPreviousSuccess():
                return PreviousRun(**memory.previous_success()._asdict())
            case GetSchedulePosition():
                return SchedulePosition()
            case StillCounts() if not memory.still_counts:
                return Refused(error="it was told to stop")
            case StillCounts():
                pass
            case PullXCom():
                found = memory.pull_xcoms(
                    task_ids=request.task_ids or (),
                    key=request.key,
                    dag_id=request.dag_id,
                    run_id=request.run_id,
                    map_path=request.map_path,
                    include_prior_dates=request.include_prior_dates,
                )
                return XComs(values=tuple(XComValue(**xcom._asdict()) for xcom in found))
            case _:
                raise AssertionError(f"{request} is no request")
    except NotFound as error:
        return Refused(error=error.message, missing=True)
    return Done()


class SocketLine:
    """The child's end of a job line."""

    def __init__(self, end: socket.socket) -> None:
        self._stream = end.makefile("rwb")

    def send(self, message: Message) -> None:
        body = msgspec.msgpack.encode(message)
        self._stream.write(_SIZE.pack(len(body)) + body)
        self._stream.flush()

    def ask(self, message: Message) -> ToChild:
        self.send(message)
        (size,) = _SIZE.unpack(self._stream.read(_SIZE.size))
        return _to_child.decode(self._stream.read(size))


@dataclass
class Ended:
    """What is left of a child."""

    reports: list[Any]
    """Messages that were not requests."""
    exit_code: int | None
    signal: int | None
    log: str
    requests: list[Any] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        (outcome,) = self.reports
        assert isinstance(outcome, Outcome)
        return outcome


class Child:
    """A process forked to serve a job, its output in the job's log."""

    def __init__(
        self,
        serve: Callable[..., None],
        job: Any,
        log: Path,
        memory: MemoryRuntime | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self._memory = memory or MemoryRuntime()
        self._log = log
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self._live(serve, job, ours, theirs, environment or {})
        theirs.close()
        ours.settimeout(limit(30))
        self._end = ours

    def _live(self, serve: Any, job: Any, ours: Any, theirs: Any, env: dict[str, str]) -> None:
        status = 9
        try:
            received = time.monotonic()
            ours.close()
            os.setsid()
            faulthandler.disable()
            descriptor = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="ascii")
            sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="ascii")
            output.open_ahead()  # as the zygote has it for its children
            os.environ.update(env)
            serve(job, SocketLine(theirs), received=received)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)

    def wait(self) -> Ended:
        """Answer the child until it ends."""
        reports, requests = [], []
        stream = self._end.makefile("rwb")
        while head := stream.read(_SIZE.size):
            message = _from_child.decode(stream.read(*_SIZE.unpack(head)))
            if hasattr(message, "state") or type(message).__name__ in ("Rendered", "Parsed"):
                reports.append(message)
                continue
            requests.append(message)
            if isinstance(message, CodeFound):
                continue  # a report too, in the middle of the job
            body = msgspec.msgpack.encode(answer(self._memory, message))
            stream.write(_SIZE.pack(len(body)) + body)
            stream.flush()
        self._end.close()
        _, status = os.waitpid(self.pid, 0)
        exited = os.WIFEXITED(status)
        return Ended(
            reports,
            os.WEXITSTATUS(status) if exited else None,
            None if exited else os.WTERMSIG(status),
            self._log.read_text(encoding="utf-8"),
            requests,
        )


def run(serve: Callable[..., None], job: Any, log: Path, **given: Any) -> Ended:
    """Serve a job in a child and wait for its end."""
    return Child(serve, job, log, **given).wait()
