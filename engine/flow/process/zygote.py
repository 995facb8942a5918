"""The process that forks one child per job, and outlives none of them.

It is exec'd by `flow.process.host`, as `flow.process.zygote_main`, with a scrubbed environment, has
one thread, and never holds the database login. Its arguments are CONTROL SPARE LIMIT [GROUP]: the
number of the descriptor of its end of the control line, how many children to keep forked ahead, the
size of the largest message on a job line, in bytes, and the control group below which each child
gets one.

Each turn of its loop waits for news, then obeys the control line, looks at the lease, ends graces
that are over, buries the dead, reports them, and last of all forks ahead. When the control line
ends, its supervisor is dead: it kills everything and exits.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import msgspec

from flow import faults
from flow.errors import ProtocolError
from flow.process import child, heap, output, prctl, preload
from flow.process.alarm import Alarm
from flow.process.cgroup import TryGroups
from flow.process.compiled import CompiledFiles
from flow.process.family import Family
from flow.process.messages import Ended, Quit, Ready, Start, Started, Stop, ToZygote
from flow.process.stock import Stock
from flow.process.wire import ENVELOPE, Line

_HELD_BACK: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that a service manager or a terminal sends to everybody: the supervisor decides what
they mean. Blocked, not ignored, so that a child that is sent one before it has settled gets it."""
_IGNORED_PERHAPS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT)
"""Signals that a role or its parent may ignore, and user code must not: nohup is one, and a shell
that starts something in the background."""

_decoder = msgspec.msgpack.Decoder(ToZygote)


class Zygote:
    """The loop. `entries` says which function serves which kind of job."""

    def __init__(
        self,
        control: socket.socket,
        spare: int,
        limit: int,
        entries: child.Entries,
        groups: TryGroups,
    ) -> None:
        self._control = Line(
            control, _decoder, name="zygote", limit=limit + ENVELOPE, take_descriptors=True
        )
        self._lease = Alarm()
        self._stock = Stock(spare, limit, entries, groups)
        self._family = Family(self._stock, groups)
        self._compiled = CompiledFiles()
        self._quitting = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._control, selectors.EVENT_READ)
        self._selector.register(self._lease, selectors.EVENT_READ)
        self._deaths = _watch_deaths()
        self._selector.register(self._deaths, selectors.EVENT_READ)

    def run(self) -> None:
        """Serve until told to quit or the supervisor is gone, and nothing lives any more."""
        self._stock.refill()
        self._control.send(Ready(pid=os.getpid()))
        while not (self._quitting and self._family.extinct()):
            self._wait()
            if not self._quitting:
                self._obey()
            self._check_lease()
            self._family.kill_overdue(time.monotonic())
            self._bury()
            self._stock.refill()

    def _wait(self) -> None:
        if not self._quitting:
            waits = selectors.EVENT_WRITE if self._control.pending else 0
            self._selector.modify(self._control, selectors.EVENT_READ | waits)
        deadline = self._family.next_deadline()
        self._selector.select(None if deadline is None else max(0.0, deadline - time.monotonic()))
        self._lease.acknowledge()
        try:
            self._deaths.recv(4096)
        except BlockingIOError:
            pass

    def _obey(self) -> None:
        self._control.flush()
        # All of it before the lease is looked at: a renewal may stand behind other orders.
        for order in self._control.receive_all():
            match order:
                case Start():
                    self._start(order)
                case Stop():
                    self._family.stop(order.job_id, order.grace, time.monotonic())
                case Quit():
                    self._quit()
                    return
                case lease:
                    self._lease.set(lease.until)
        if self._control.ended or self._control.violation:
            self._quit()

    def _start(self, order: Start) -> None:
        if self._lease.due():
            os.close(self._control.take_descriptor())
            self._report(_unborn(order.job_id, killed="lease"))
            return
        job_line = None
        try:
            job_line = self._control.take_descriptor()
            faults.point("zygote.start.before_fork")
            memory = self._compiled.memory_for(order.file, time.monotonic()) if order.file else None
            pid = self._family.start(order.job_id, order.job, job_line, memory)
        except (OSError, ProtocolError) as error:
            self._report(_unborn(order.job_id, error=f"cannot start a process: {error}"))
            return
        finally:
            if job_line is not None:
                os.close(job_line)
        faults.point("zygote.start.after_fork")
        if not order.quiet:
            self._control.send(Started(job_id=order.job_id, pid=pid))

    def _check_lease(self) -> None:
        if self._lease.due():
            faults.point("zygote.lease.expired")
            self._family.kill_all("lease")

    def _bury(self) -> None:
        for ended in self._family.reap():
            self._report(ended)

    def _report(self, ended: Ended) -> None:
        self._control.send(ended)

    def _quit(self) -> None:
        self._quitting = True
        self._selector.unregister(self._control)
        self._stock.dissolve()
        self._family.kill_all("quit")


def _unborn(job_id: int, killed: str | None = None, error: str | None = None) -> Ended:
    """The end of a job that never had a process."""
    return Ended(
        job_id=job_id,
        exit_code=None,
        signal=None,
        peak_rss=0,
        cpu_time=0.0,
        killed=killed,
        error=error,
    )


def _watch_deaths() -> socket.socket:
    """A socket that becomes readable when a child has died."""
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
    # The signal module keeps the number only; the socket object must not close it.
    signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    return ours


def main(
    arguments: list[str],
    entries: child.Entries = child.ENTRIES,
    modules: Iterable[str] = preload.MODULES,
    rehearse: Callable[[], None] = lambda: None,
) -> None:
    """Become the zygote; returns when its work is over.

    `rehearse` does what children do, so that their memory is ready before the first fork.
    """
    control, spare, limit = map(int, arguments[:3])
    groups = TryGroups(Path(arguments[3]) if len(arguments) > 3 else None)
    signal.pthread_sigmask(signal.SIG_BLOCK, _HELD_BACK)
    for number in _IGNORED_PERHAPS:
        # Of SIGINT Python makes KeyboardInterrupt, unless it was ignored at its start.
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, usual)
    prctl.become_subreaper()
    prctl.set_name(child.ZYGOTE)
    output.open_ahead()
    preload.load([*modules, *sorted(child.modules(entries))])
    rehearse()
    heap.settle()
    Zygote(socket.socket(fileno=control), spare, limit, entries, groups).run()
