"""What a `Host` tells the loop that it serves."""

from __future__ import annotations

from dataclasses import dataclass

from flow.process.memory import Shortage
from flow.process.messages import FromChild, Measured, Outcome, Parsed, Rendered

Result = Outcome | Rendered | Measured | Parsed
"""A child's last word on its job."""


@dataclass(frozen=True, slots=True)
class ZygoteReady:
    """The zygote has loaded its modules. Jobs started before wait for it."""

    pid: int


@dataclass(frozen=True, slots=True)
class JobStarted:
    """A child serves the job."""

    job_id: int
    pid: int


@dataclass(frozen=True, slots=True)
class ChildMessage:
    """A child asks or reports something; what asks is answered with `Host.reply`."""

    job_id: int
    message: FromChild


@dataclass(frozen=True, slots=True)
class JobEnded:
    """The job is over: its child and all its descendants are dead, or it has nothing more to do.

    The latter is `leaving`: a success whose process has said that all its code has run and that
    nothing it started is left (`flow.process.messages.Finished`).
    """

    job_id: int
    result: Result | None
    """The first result that the child reported; None if it died without, or broke the protocol."""
    exit_code: int | None = None
    signal: int | None = None
    peak_rss: int = 0
    """Bytes."""
    cpu_time: float = 0.0
    """Seconds."""
    killed: str | None = None
    """Why it was killed, if it was: "stop", "lease", "protocol", or "zygote": with the zygote."""
    error: str | None = None
    """Why no process could be started, or what the child sent that it may not send."""
    shortage: Shortage | None = None
    """What speaks for memory having run out, of a process that was killed by somebody else."""
    leaving: bool = False
    """Whether the process may not be dead yet: then `JobGone` follows."""


@dataclass(frozen=True, slots=True)
class JobGone:
    """The process of a job that ended before, as `leaving`, is dead, and all below it."""

    job_id: int


@dataclass(frozen=True, slots=True)
class ZygoteDied:
    """The zygote is dead, and so is every process that it had forked: `Host.restart` is next.

    Jobs that had reported a result have a `JobEnded` before this.
    """

    job_ids: tuple[int, ...]
    """Jobs that were alive and had not reported a result."""
    exit_code: int | None
    signal: int | None

    @property
    def how(self) -> str:
        """By which signal or with which exit code it died, for people."""
        return f"signal {self.signal}" if self.signal is not None else f"exit code {self.exit_code}"


JobEvent = JobStarted | ChildMessage | JobEnded | JobGone | ZygoteDied
"""What concerns jobs."""
Event = ZygoteReady | JobEvent
