"""What a forked child does: settle, wait for its order, run one job, end.

The fork happens ahead of the job, so everything that can be done without knowing the job is done
first. An order is one byte with descriptors beside it: the child's end of the job line, a memory
file that holds the encoded job, and perhaps one for the compiled DAG file.

What a child does only once calls functions by names of their own, here, in `stock` and in
`import_limits`. Code that has run before finds `os.setsid` at once; what runs for the first time
looks it up through a cache whose pages the child then copies.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from os import closerange, setsid
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import msgspec

from flow import faults
from flow.process import compiled, finish, prctl
from flow.process.channel import Channel
from flow.process.jobs import CallbackJob, Job, MeasureJob, ParseJob, RenderJob, TaskJob
from flow.process.messages import Outcome
from flow.process.prctl import close_from
from flow.process.wire import receive_descriptors

Entries = Mapping[type, str]
"""Kind of job → "module:function", called as `function(job, line, received=…)`."""

ENTRIES: Final[Entries] = {
    TaskJob: "flow.process.task:run_task",
    CallbackJob: "flow.process.callback:run_callback",
    RenderJob: "flow.process.render:run_render",
    MeasureJob: "flow.process.measure:run_measure",
    ParseJob: "flow.process.parse:run_parse",
}

ZYGOTE: Final = "flow-zygote"
_CHILD: Final = "flow-job"
"""Names for ps and top."""
_OOM_SCORE: Final = b"500"
"""Out of 1000: where memory runs out, the kernel ends tasks before databases and roles."""

_decoder = msgspec.msgpack.Decoder(Job)


def modules(entries: Entries) -> set[str]:
    """The modules of the functions that run jobs."""
    return {place.partition(":")[0] for place in entries.values()}


def live(order: socket.socket, parent: int, limit: int, entries: Entries) -> NoReturn:
    """The whole life of a child, from right after the fork.

    `parent` is the zygote's pid, `limit` the size of the largest message, in bytes.
    """
    status = 1
    try:
        settle(order.fileno(), parent)
        work = await_work(order, limit)
        status = 0 if work is None else _serve(work, entries)
    except BaseException:
        traceback.print_exc()
    finally:
        # Never back into the zygote's frames, of which the child has a copy.
        os._exit(status)


def pass_order(spare: socket.socket, job: bytes, job_line: int, code: int | None = None) -> None:
    """Tell a waiting child its job; never blocks. Raises OSError if it is gone.

    `code` is a memory file of `flow.process.compiled`.
    """
    memory = os.memfd_create("flow-job", os.MFD_CLOEXEC)
    try:
        view = memoryview(job)
        while view:
            view = view[os.write(memory, view) :]
        more = () if code is None else (code,)
        socket.send_fds(spare, [b"\0"], [job_line, memory, *more])
    finally:
        os.close(memory)


def settle(order: int, parent: int) -> None:
    """Cut the ties to the zygote, so that the child's life depends on its job alone."""
    setsid()
    # The zygote holds some signals back; one that came since the fork strikes now, as it should.
    become_child(parent, blocked=())
    closerange(3, order)
    close_from(order + 1)
    try:
        score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(score, _OOM_SCORE)
        os.close(score)
    except OSError:
        pass  # a lower score than the role's own may not be set: then the role's own stays


def become_child(parent: int, blocked: Iterable[int]) -> None:
    """Be what a child of the zygote is: it dies with it, has a name, and heeds no other's signals.

    `parent` is the zygote's pid, and `blocked` are the signals held back from now on.
    """
    prctl.die_with_parent(parent)
    prctl.become_subreaper()
    prctl.set_name(_CHILD)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


class Work(NamedTuple):
    """A job, the line on which it is talked about, and when it came (CLOCK_MONOTONIC, seconds)."""

    job: Job
    line: Channel
    received: float


def await_work(order: socket.socket, limit: int) -> Work | None:
    """Wait for the order; None: the zygote needs no spare child any more."""
    data, descriptors, _ = receive_descriptors(order, 1, 3)
    received = time.monotonic()
    if not data:
        return None
    order.close()
    line, memory, *more = descriptors
    if more:
        compiled.offer(more[0])
    faults.point("child.order.received")
    job = _decoder.decode(os.pread(memory, os.fstat(memory).st_size, 0))
    os.close(memory)
    return Work(job, Channel(socket.socket(fileno=line), limit), received)


def _serve(work: Work, entries: Entries) -> int:
    """Do the work, and what has to be done after any work. Returns the exit status."""
    status = carry_out(work, entries)
    finish.run_exit_functions()
    # What an import found counts when its processes are dead, and not before (`Charge.end_early`).
    if status == 0 and not isinstance(work.job, ParseJob):
        finish.announce(work.line)
    return status


def carry_out(work: Work, entries: Entries) -> int:
    """Do the work. Returns the exit status."""
    job = work.job
    try:
        _prepare(job)
    except OSError as error:
        if isinstance(job, TaskJob):
            work.line.send(Outcome(state="failed", reason=f"cannot open the log file: {error}"))
        raise
    status = _run(_function(entries[type(job)]), work)
    faults.point("child.job.done")
    return status


def _prepare(job: Job) -> None:
    """Give the process the output and the environment that its job wants."""
    if job.log is not None:
        log = _begin_log(job.log) if isinstance(job, TaskJob) else _open_log(job.log)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
    if isinstance(job, ParseJob) and job.memory is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (job.memory, job.memory))
    if isinstance(job, TaskJob):
        for name, value in job.env.items():
            os.environ[name] = value


def _begin_log(path: str) -> int:
    """Open the log of a try, which begins with it. Raises OSError."""
    try:
        return _open_log(path, os.O_EXCL)
    except FileExistsError:
        from flow.logs.earlier import set_aside  # few tries find a log at their place

    try:
        set_aside(Path(path))
    except OSError as error:
        # The log is shared rather than the try lost; whoever reads it has to know.
        log = _open_log(path)
        said = f"\nflow: above is the log of an earlier run; it cannot be set aside: {error}\n"
        os.write(log, said.encode(errors="backslashreplace"))
        return log
    return _open_log(path)


def _open_log(path: str, more_flags: int = 0) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | more_flags
    try:
        return os.open(path, flags, 0o640)
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o640)


def _function(place: str) -> Callable[..., Any]:
    name, _, function = place.partition(":")
    module = sys.modules.get(name) or importlib.import_module(name)
    found: Callable[..., Any] = getattr(module, function)
    return found


def _run(function: Callable[..., Any], work: Work) -> int:
    try:
        function(work.job, work.line, received=work.received)
    except SystemExit as ended:
        return _status(ended.code)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _status(code: object) -> int:
    """The exit status that Python gives to the argument of sys.exit()."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    sys.stderr.write(f"{code}\n")
    return 1
