"""The supervisor's side: starts the zygote, gives it jobs, hears what becomes of them.

A `Host` does not block, except while it closes, and has no thread. It is one readable descriptor
for the caller's own selector or event loop; whenever that is readable, `events()` says what has
happened:

    selector.register(host, selectors.EVENT_READ)
    job_id = host.start(job)
    …
    for event in host.events():
        …

The process becomes a child subreaper: when the zygote dies, what it leaves behind moves up to this
process, and is ended here.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from flow.errors import ProtocolError
from flow.process import adopted, alarm, prctl, tree
from flow.process.cgroup import WorkerGroup
from flow.process.charge import Charge
from flow.process.environment import TaskUser, scrubbed
from flow.process.events import Event, JobEnded, JobGone, JobStarted, ZygoteDied, ZygoteReady
from flow.process.jobs import Job, ParseJob, TaskJob
from flow.process.memory import Memory
from flow.process.messages import (
    Ended,
    FromZygote,
    Lease,
    Message,
    Quit,
    Ready,
    Refused,
    Start,
    Started,
    Stop,
    ToChild,
)
from flow.process.wire import DEFAULT_LIMIT, ENVELOPE, Line, check_size

ZYGOTE: Final = (sys.executable, "-P", "-m", "flow.process.zygote_main")
"""Command of the zygote. -P: a `json.py` in the working folder is not Python's."""

_CLOSE_PATIENCE: Final = 10.0
"""Seconds that a zygote has to end everything once it has been told to quit."""
_LOOK_AGAIN: Final = 0.01
"""Seconds between two looks at adopted processes that have been killed and are not yet gone."""

_job_encoder = msgspec.msgpack.Encoder()
_zygote_decoder = msgspec.msgpack.Decoder(FromZygote)
_zygotes: Final[set[int]] = set()
"""The zygotes of all hosts of this process: none of them is another one's leftover."""


def _nobody() -> Collection[int]:
    return ()


class Host:
    """A zygote and its jobs, from the supervisor's side.

    `worker` marks all processes (FLOW_WORKER), so that a successor can end what is left of them.
    `spare` children are forked ahead. `limit` is the size of the largest message on a job line,
    in bytes. `user` runs the zygote, and so all jobs, as another user; that takes the right to
    change users and to kill that user's processes. `keep` names the caller's own children that
    have begun a session; others are never taken for leftovers of a zygote. In `group` each job has
    a control group of its own.
    """

    def __init__(
        self,
        worker: str,
        *,
        spare: int = 1,
        limit: int = DEFAULT_LIMIT,
        user: TaskUser | None = None,
        keep: Callable[[], Collection[int]] = _nobody,
        group: WorkerGroup | None = None,
        command: Sequence[str] = ZYGOTE,
    ) -> None:
        self._worker = worker
        self._spare = spare
        self._limit = limit
        self._user = user
        self._keep = keep
        self._group = group
        self._command = command
        self._memory = Memory()
        self._charges: dict[int, Charge] = {}
        self._leaving: set[int] = set()
        self._last_job = 0
        self._until: float | None = None
        self._selector = selectors.EpollSelector()
        self._look_again = alarm.Alarm()
        self._selector.register(self._look_again, selectors.EVENT_READ)
        prctl.become_subreaper()
        # Running: both. The zygote is dead and leftovers may live: the process. All dead: none.
        self._process: subprocess.Popen[bytes] | None = None
        self._control: Line[FromZygote] | None = None
        try:
            self._launch()
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        """Readable when `events` has something to say."""
        return self._selector.fileno()

    @property
    def jobs(self) -> frozenset[int]:
        """Jobs that were started and have not ended."""
        return frozenset(self._charges)

    @property
    def zygote(self) -> int | None:
        """Pid of the zygote; None after `ZygoteDied`."""
        return self._process.pid if self._process else None

    def start(self, job: Job) -> int:
        """Have a process run a job. Returns the job's number, never used twice by this host.

        That it has begun is told of all jobs but imports, of which there are many, and short ones.
        Raises ProtocolError if the job is larger than the limit, and RuntimeError between
        `ZygoteDied` and `restart`.
        """
        if self._process is None:
            raise RuntimeError("the zygote is dead: call restart() first")
        body = _job_encoder.encode(job)
        check_size(len(body), self._limit)
        ours, theirs = socket.socketpair()
        self._last_job += 1
        charge = self._charges[self._last_job] = Charge(self._last_job, ours, self._limit)
        self._watch(charge)
        if self._control:
            file = job.file if isinstance(job, TaskJob) else ""
            quiet = isinstance(job, ParseJob)
            start = Start(job_id=charge.job_id, job=body, file=file, quiet=quiet)
            self._send(start, (theirs.detach(),))
        else:
            theirs.close()  # the job will be among those that died with the zygote
        return charge.job_id

    def stop(self, job_id: int, grace: float) -> None:
        """SIGTERM to a job's process, SIGKILL to its tree after `grace` seconds.

        Without grace, SIGKILL at once. A second call can only shorten the grace. A job whose
        processes are dead is let be.
        """
        if job_id in self._charges or job_id in self._leaving:
            self._send(Stop(job_id=job_id, grace=grace))

    def renew(self, until: float) -> None:
        """Let jobs live until `until`, in seconds of CLOCK_BOOTTIME (`flow.process.alarm.now`).

        Then all are killed at once, and none is started before the next renewal. Without any
        call there is no limit.
        """
        self._until = until
        self._send(Lease(until=until))

    def reply(self, job_id: int, message: ToChild) -> None:
        """Answer a request; a job that has ended needs none.

        An answer that is larger than the limit becomes a refusal that says so.
        """
        charge = self._charges.get(job_id)
        if charge is not None:
            try:
                charge.reply(message)
            except ProtocolError as error:
                charge.reply(Refused(error=error.message))
            self._watch(charge)

    def events(self) -> list[Event]:
        """What has happened since the last call, in order for each job; never blocks."""
        events: list[Event] = []
        for key, _ in self._selector.select(0):
            if isinstance(key.data, Charge):
                # It may have ended on an earlier turn of this loop.
                if key.data.job_id in self._charges:
                    events += self._hear(key.data)
            elif key.fileobj is self._control:
                events += self._hear_zygote(self._control)
        if self._process and not self._control:
            events += self._clear_up(self._process)
        return events

    def restart(self) -> None:
        """Start a new zygote after `ZygoteDied`, under the lease of the old one."""
        if self._process is not None:
            raise RuntimeError("the zygote is alive, or what it left has not been ended yet")
        self._launch()

    @property
    def frozen(self) -> bool:
        """Whether somebody has stopped the zygote, so that it hears and tells nothing."""
        return self._process is not None and tree.stopped(self._process.pid)

    def thaw(self) -> None:
        """SIGCONT to the zygote, so that it goes on where it was stopped."""
        if self._process:
            self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL the zygote, as one that does not answer any more; `ZygoteDied` follows."""
        if self._process:
            self._process.kill()

    def close(self) -> None:
        """End all jobs and the zygote, and wait until they are dead. May be called twice."""
        if self._control:
            self._send(Quit())
            self._await_end(self._control)
            self._lose_zygote()
        while self._process and not self._clear_up(self._process):
            time.sleep(_LOOK_AGAIN)
        if self._look_again.fileno() >= 0:
            self._look_again.close()
            self._selector.close()

    def _launch(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            self._process = self._spawn(theirs)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        _zygotes.add(self._process.pid)
        self._control = Line(ours, _zygote_decoder, name="host", limit=self._limit + ENVELOPE)
        self._selector.register(self._control, selectors.EVENT_READ)
        if self._until is not None:
            self.renew(self._until)

    def _spawn(self, control: socket.socket) -> subprocess.Popen[bytes]:
        user = self._user
        arguments: list[object] = [control.fileno(), self._spare, self._limit]
        if self._group is not None:
            arguments.append(self._group.path)
        return subprocess.Popen(
            [*self._command, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            pass_fds=[control.fileno()],
            env=scrubbed(os.environ, self._worker) | (user.environment() if user else {}),
            user=user.uid if user else None,
            group=user.gid if user else None,
            extra_groups=user.groups if user else None,
            # What a role needs to become another user, that user must not have.
            preexec_fn=prctl.drop_capabilities if user else None,
            # A terminal's Ctrl-C is the supervisor's to interpret.
            start_new_session=True,
        )

    def _send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        if self._control:
            self._control.send(message, descriptors)
            self._watch_control(self._control)

    def _watch_control(self, control: Line[FromZygote]) -> None:
        waits = selectors.EVENT_WRITE if control.pending else 0
        self._selector.modify(control, selectors.EVENT_READ | waits)

    def _watch(self, charge: Charge) -> None:
        interest = charge.interest
        if interest == charge.watched:
            return
        if not charge.watched:
            self._selector.register(charge, interest, charge)
        elif not interest:
            self._selector.unregister(charge)
        else:
            self._selector.modify(charge, interest, charge)
        charge.watched = interest

    def _hear(self, charge: Charge) -> Sequence[Event]:
        events: list[Event] = [*charge.read()]
        if charge.broken:
            self.stop(charge.job_id, 0.0)
        return [*events, *self._leave(charge)]

    def _leave(self, charge: Charge) -> list[Event]:
        """The end of a job whose process has said its last word, if that may count already."""
        ended = charge.end_early()
        if ended is None:
            self._watch(charge)
            return []
        self._leaving.add(charge.job_id)
        self._forget(charge)
        return [ended]

    def _hear_zygote(self, control: Line[FromZygote]) -> list[Event]:
        control.flush()
        events: list[Event] = []
        for message in control.receive_all():
            match message:
                case Ready():
                    events.append(ZygoteReady(message.pid))
                case Started():
                    events.append(JobStarted(message.job_id, message.pid))
                    charge = self._charges[message.job_id]
                    charge.started = True
                    events += self._leave(charge)
                case Ended():
                    events += self._end(message)
        if control.ended or control.violation:
            self._lose_zygote()
        else:
            self._watch_control(control)
        return events

    def _end(self, ended: Ended) -> list[Event]:
        if ended.job_id in self._leaving:
            self._leaving.remove(ended.job_id)
            return [JobGone(ended.job_id)]
        charge = self._charges[ended.job_id]
        events: list[Event] = [*charge.read_rest()]
        early = self._leave(charge)
        if early:  # its last word and its death are heard at once: the word counts all the same
            self._leaving.remove(ended.job_id)
            return [*events, *early, JobGone(ended.job_id)]
        self._forget(charge)
        return [*events, self._examined(charge.end(ended))]

    def _examined(self, ended: JobEnded) -> JobEnded:
        """With what the kernel says of a death by SIGKILL that none of ours has sent."""
        if ended.signal != signal.SIGKILL or ended.killed is not None:
            return ended
        return replace(ended, shortage=self._memory.shortage(ended.peak_rss))

    def _forget(self, charge: Charge) -> None:
        del self._charges[charge.job_id]
        if charge.watched:
            self._selector.unregister(charge)
        charge.close()

    def _lose_zygote(self) -> None:
        """The control line is of no more use: make sure that the zygote is dead."""
        if self._control and self._process:
            self._selector.unregister(self._control)
            self._control.close()
            self._control = None
            self._process.kill()
            self._process.wait()
            _zygotes.discard(self._process.pid)
            if self._group is not None:
                self._group.end_tries()

    def _clear_up(self, process: subprocess.Popen[bytes]) -> list[Event]:
        """End what the zygote left; once nothing lives any more, tell what became of the jobs."""
        if not adopted.end(_zygotes | set(self._keep())):
            self._look_again.set(alarm.now() + _LOOK_AGAIN)
            return []
        self._look_again.acknowledge()
        self._process = None
        events: list[Event] = [JobGone(job_id) for job_id in sorted(self._leaving)]
        self._leaving.clear()
        lost = []
        for charge in list(self._charges.values()):
            events += charge.read_rest()
            if charge.reported:
                events.append(charge.end_with_zygote())
            else:
                lost.append(charge.job_id)
            self._forget(charge)
        code = process.returncode
        killed_by = -code if code < 0 else None
        events.append(ZygoteDied(tuple(lost), code if code >= 0 else None, killed_by))
        return events

    def _await_end(self, control: Line[FromZygote]) -> None:
        deadline = time.monotonic() + _CLOSE_PATIENCE
        while not control.ended and (left := deadline - time.monotonic()) > 0:
            with selectors.DefaultSelector() as selector:
                waits = selectors.EVENT_WRITE if control.pending else 0
                selector.register(control, selectors.EVENT_READ | waits)
                selector.select(left)
            control.flush()
            control.receive_all()
