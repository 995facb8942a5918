"""Every message between a supervisor, its zygote and the processes that run user code.

Three lines connect them, all socket pairs:

    supervisor ──control──▶ zygote        Start · Stop · Lease · Quit
    supervisor ◀─control─── zygote        Ready · Started · Ended
    supervisor ◀──job line──▶ child       requests and reports of one job; its end is passed
                                          with Start as a file descriptor

Messages are msgpack of tagged structs behind a four-byte length (`flow.process.wire`). Nothing is
ever unpickled. Values of users (XComs, params) travel as JSON text, so that the supervisor never
builds a user's object.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Base of all messages; the class name is the tag."""


# ── control line: supervisor → zygote ────────────────────────────────────────────────────────────


class Start(Message, frozen=True, tag="start"):
    """Fork a child for `job`. The child's end of the job line travels with it (SCM_RIGHTS)."""

    job_id: int
    """Number of the job on this worker; never used twice in the life of a zygote."""
    job: bytes
    """An encoded `Job`; the zygote passes it on unread."""
    file: str = ""
    """The DAG file of a try; "" for other jobs."""
    quiet: bool = False
    """Whether nobody waits for `Started`."""


class Stop(Message, frozen=True, tag="stop"):
    """End a job: SIGTERM to the child, after `grace` seconds SIGKILL to its whole tree."""

    job_id: int
    grace: float


class Lease(Message, frozen=True, tag="lease"):
    """Jobs may live until `until`, in seconds of CLOCK_BOOTTIME; then all are killed at once."""

    until: float


class Quit(Message, frozen=True, tag="quit"):
    """End: kill what still runs, then exit."""


# ── control line: zygote → supervisor ────────────────────────────────────────────────────────────


class Ready(Message, frozen=True, tag="ready"):
    """The zygote has loaded its modules and takes jobs."""

    pid: int


class Started(Message, frozen=True, tag="started"):
    """A child serves the job."""

    job_id: int
    pid: int


class Ended(Message, frozen=True, tag="ended"):
    """The child and every descendant of it are dead."""

    job_id: int
    exit_code: int | None
    signal: int | None
    peak_rss: int
    """Largest resident size of the child and its waited-for children, in bytes."""
    cpu_time: float
    """User plus system time of the child and its waited-for children, in seconds."""
    killed: str | None = None
    """Why the zygote killed it, if it did: "stop", "lease"."""
    error: str | None = None
    """Why no child could be started, for people; then there was no process."""


# ── job line: child → supervisor ─────────────────────────────────────────────────────────────────


class Outcome(Message, frozen=True, tag="outcome"):
    """How a try ended, by its own account. Only `Finished` may follow."""

    state: str
    """success · failed · skipped · up_for_reschedule · deferred (`flow.states.TaskState`)."""
    reason: str | None = None
    """One line for people: exception type and text, "exit code 3", …"""
    retry: bool = True
    """False: fail without using the retries that are left."""
    value: str | None = None
    """JSON of the return value, to be pushed as XCom `return_value`; None: nothing to push."""
    skips: tuple[str, ...] = ()
    """Task ids that a branch or short circuit decided to skip."""
    ended: float = 0.0
    """CLOCK_MONOTONIC when the task's function returned, in seconds."""
    code_hash: str | None = None
    """Hash of the code that this try used: of the file as it was imported, with pinned code of its
    local modules too."""
    mismatch: bool = False
    """It failed because the code was not the one its run is pinned to."""
    missing: bool = False
    """It failed because the file, DAG or task is not there any more."""
    exit_code: Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)] | None = None
    """Of the `sys.exit` or command with which the task ended; None: the process's own counts."""


class Finished(Message, frozen=True, tag="finished"):
    """The last word after an `Outcome`: nothing of the job is left but an exit with code 0.

    All its code has run, exit functions included; it has no children and no other threads. The
    limits are those of the columns that keep the figures.
    """

    peak_rss: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
    """Largest resident size of the process and its waited-for children, in bytes."""
    cpu_time: Annotated[float, msgspec.Meta(ge=0, le=1e12)]
    """User plus system time of the process and its waited-for children, in seconds."""


class CodeFound(Message, frozen=True, tag="code_found"):
    """The pinned code is there, and the try goes on; has no answer."""


class PushXCom(Message, frozen=True, tag="push_xcom"):
    """Store an XCom of this try; answered by `Done`."""

    key: str
    value: str


class PullXCom(Message, frozen=True, tag="pull_xcom"):
    """Ask for XComs; answered by `XComs`."""

    task_ids: tuple[str, ...] | None
    key: str
    dag_id: str | None = None
    run_id: str | None = None
    map_path: tuple[int, ...] | None = None
    include_prior_dates: bool = False


class GetVariable(Message, frozen=True, tag="get_variable"):
    """Ask for a variable; answered by `Value`."""

    key: str


class SetVariable(Message, frozen=True, tag="set_variable"):
    """Store a variable; answered by `Done`."""

    key: str
    value: str
    description: str | None = None


class DeleteVariable(Message, frozen=True, tag="delete_variable"):
    """Delete a variable; answered by `Done`."""

    key: str


class GetConnection(Message, frozen=True, tag="get_connection"):
    """Ask for a connection; answered by `Value` holding its JSON form."""

    conn_id: str


class GetPreviousSuccess(Message, frozen=True, tag="get_previous_success"):
    """Ask for the last successful run before this one; answered by `PreviousRun`."""


class GetSchedulePosition(Message, frozen=True, tag="get_schedule_position"):
    """Ask where the schedule of a DAG stands; answered by `SchedulePosition`."""

    dag_id: str


class StillCounts(Message, frozen=True, tag="still_counts"):
    """Ask whether the try counts; answered by `Done`, or `Refused` when it was told to stop."""

    failed: bool = False
    """Whether it has failed: then it does not count where its worker ended it."""


class Rendered(Message, frozen=True, tag="rendered"):
    """Answer of a render job."""

    fields: str = "{}"
    """JSON object of field → rendered value, secrets masked."""
    error: str | None = None
    """One line why the fields cannot be rendered; then `fields` is empty."""


class Figures(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What something holds, as figures that are equal when the content is."""

    count: int
    """Files of a tree, rows of a table."""
    bytes: int | None = None
    """Size of all files; None for a table."""
    digest: str
    """Of the content, in hexadecimal."""


class Measure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One outlet of a task: what is there now."""

    name: str
    """The outlet, rendered, for people."""
    figures: Figures | None = None
    """None: nothing is there, or it cannot be measured."""
    error: str | None = None
    """One line why it cannot be measured."""


class Measured(Message, frozen=True, tag="measured"):
    """Answer of a measure job."""

    outlets: tuple[Measure, ...] = ()
    """In the order of the file."""
    error: str | None = None
    """One line why the outlets cannot be looked at; then there are none."""


class Evaluated(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a timetable of the user's own says about the intervals to come."""

    dag_id: str
    rows: tuple[tuple[datetime, datetime, datetime], ...] = ()
    """Start and end of each interval, and when its run is made; in order."""
    error: str | None = None
    """One line why there are no more; the rows are good all the same."""
    traceback: str | None = None
    dry: bool = False
    """The timetable has no interval after these."""


class ImportTime(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How long a module took to import, with all that it imported itself."""

    name: str
    seconds: float
    importer: str = ""
    """The module that imported it; "": the DAG file."""


class Deed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that a file did to the world, or read of it, while it was imported."""

    kind: str
    """network · process · read · write · variable · connection."""
    target: str
    """Address, command, path, key or id."""
    file: str
    """The user's file whose code did it; "" where only a thread of a library is to be seen."""
    line: int = 0
    through: str = ""
    """The installed module that did it while it was imported itself."""


class Parsed(Message, frozen=True, tag="parsed"):
    """Answer of a parse job."""

    specs: tuple[bytes, ...] = ()
    """Canonical JSON of each DAG."""
    lines: tuple[int, ...] = ()
    """Line of the file where each DAG is made, beside `specs`."""
    error: str | None = None
    """One-line import error; then `specs` is empty."""
    error_code: str = ""
    """`code` of an error of Flow's own; "" for any other."""
    nearest: str | None = None
    """The name that was probably meant, of an observed import that lacks one."""
    error_line: int | None = None
    traceback: str | None = None
    evaluated: tuple[Evaluated, ...] = ()
    """Of each DAG whose timetable is a class of the user's."""
    warnings: tuple[str, ...] = ()
    modules: dict[str, str] = {}
    """Local modules the file imported (name → absolute path)."""
    signatures: dict[str, tuple[int, int, int, int]] = {}
    """Of some of `modules`, by name, as they were when they were executed."""
    lacked: tuple[str, ...] = ()
    """Names of modules that the error says are not there."""
    imports: tuple[ImportTime, ...] = ()
    """The modules that took longest, slowest first."""
    seconds: float = 0.0
    """Time of the import."""
    deeds: tuple[Deed, ...] = ()
    """Of an observed import: what it did beside defining DAGs."""


# ── job line: supervisor → child ─────────────────────────────────────────────────────────────────


class Done(Message, frozen=True, tag="done"):
    """The request was carried out."""


class Refused(Message, frozen=True, tag="refused"):
    """The request failed; `error` says why, `missing` tells absence from refusal."""

    error: str
    missing: bool = False


class Value(Message, frozen=True, tag="value"):
    """Text asked for."""

    value: str


class XComValue(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One XCom found."""

    task_id: str
    map_path: tuple[int, ...] = ()
    value: str


class XComs(Message, frozen=True, tag="xcoms"):
    """XComs found, ordered by task id and map path."""

    values: tuple[XComValue, ...] = ()


class PreviousRun(Message, frozen=True, tag="previous_run"):
    """The last successful run before this one, or nothing."""

    data_interval_start: datetime | None = None
    data_interval_end: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


class SchedulePosition(Message, frozen=True, tag="schedule_position"):
    """Where the schedule of a DAG stands. Moments are in UTC."""

    last: tuple[datetime, datetime] | None = None
    """Start and end of the last interval that has got its run, of those its timetable gave."""
    cursor: datetime | None = None
    """No interval that starts before gets a run any more."""


ToZygote = Start | Stop | Lease | Quit
FromZygote = Ready | Started | Ended
FromChild = (
    Outcome
    | Finished
    | CodeFound
    | PushXCom
    | PullXCom
    | GetVariable
    | SetVariable
    | DeleteVariable
    | GetConnection
    | GetPreviousSuccess
    | GetSchedulePosition
    | StillCounts
    | Rendered
    | Measured
    | Parsed
)
ToChild = Done | Refused | Value | XComs | PreviousRun | SchedulePosition
