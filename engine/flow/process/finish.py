"""The end of a child's work: exit functions, and a last word that lets nobody wait for the exit.

An exit takes the kernel some milliseconds: it gives memory back, tells the parent, and is reaped.
Where a job has left nothing that could still run, its supervisor need not wait for that.
"""

from __future__ import annotations

import atexit
import gc
import os
import resource
import signal
import sys
import traceback
from typing import Final

from flow.errors import ProtocolError
from flow.process.line_runtime import JobLine
from flow.process.messages import Finished

_SIGNALS: Final = frozenset(map(int, signal.valid_signals()))
_ANY_KIND: Final = 0x40000000
"""__WALL of waitpid(2): also children whose end sends another signal than SIGCHLD, or none."""


def run_exit_functions() -> None:
    """What Python does when it ends: user code counts on it, as tempfile does."""
    try:
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # the disk is full, or user code has closed or replaced the stream


def announce(line: JobLine) -> None:
    """Say `Finished` if it is true; the caller exits at once. Else the exit has to tell."""
    # No signal handler and no finalizer of user code may begin anything after the look around.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    gc.disable()
    if _alone():
        own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        peak_rss = max(own.ru_maxrss, children.ru_maxrss) * 1024
        cpu_time = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
        try:
            line.send(Finished(peak_rss=peak_rss, cpu_time=cpu_time))
        except ProtocolError:
            pass  # the supervisor is gone, or requests were interrupted: the exit has to tell


def _alone() -> bool:
    """Whether nothing of the job lives but the thread that asks.

    The process is a subreaper, so whatever the job has started and that still lives is below it.
    """
    try:
        while os.waitpid(-1, os.WNOHANG | _ANY_KIND)[0]:
            pass  # one that is dead already and that user code has not waited for
    except ChildProcessError:
        return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - at the end of each child
    return False
