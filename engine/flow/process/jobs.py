"""What a process that runs user code is told to do: one job, of one of five kinds.

Values of users (params) travel as JSON text, so that the supervisor never builds a user's object.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from flow.process.pin import Pin


class RunInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a task may know of its run. Dates are aware UTC datetimes."""

    dag_id: str
    run_id: str
    run_type: str
    logical_date: datetime
    data_interval_start: datetime
    data_interval_end: datetime
    run_after: datetime
    started_at: datetime | None = None
    conf: str = "{}"
    """JSON object."""
    version: int = 0
    """Number of the DAG version the run is pinned to; 0 where there are no versions."""


class TaskJob(msgspec.Struct, frozen=True, kw_only=True, tag="task", omit_defaults=True):
    """Run one try of one task."""

    run: RunInfo
    task_id: str
    map_path: tuple[int, ...] = ()
    try_number: int
    max_tries: int
    file: str
    """Absolute path of the DAG file on this host."""
    root: str = ""
    """The DAG folder, put on sys.path; "" is the file's own folder."""
    timezone: str = "UTC"
    """Zone of DAGs whose start date names none (`dags.default_timezone`)."""
    log: str
    """Absolute path of the try's log file, which begins with it: a file that is there is set aside
    (`flow.logs.earlier`). The child's stdout and stderr go there."""
    xcom_limit: int | None = None
    """Largest XCom that the try may push, in bytes of JSON; None: as large as a message can be."""
    pin: Pin | None = None
    """The code that it must find; None: it takes what there is."""
    terminal: str | None = None
    """Device on which a debugger is opened when the try fails; None: it just fails."""
    env: dict[str, str] = {}
    """Added to the child's environment (marker of the try, FLOW_CTX_*)."""


class LastTask(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The task instance of a run that ended which the callbacks of the run get to see, as `ti`."""

    task_id: str
    map_path: tuple[int, ...] = ()
    state: str
    try_number: int
    max_tries: int


class CallbackJob(msgspec.Struct, frozen=True, kw_only=True, tag="callback", omit_defaults=True):
    """Run callbacks of a task whose own process died, or of a run that ended."""

    run: RunInfo
    task_id: str | None = None
    """None: the callbacks are the run's."""
    map_path: tuple[int, ...] = ()
    try_number: int = 0
    max_tries: int = 0
    last: LastTask | None = None
    """With callbacks of a run in which a task has started."""
    file: str
    root: str = ""
    timezone: str = "UTC"
    kind: str
    """`failure`, `retry`, `success`, …: which list of callbacks."""
    reason: str
    """Why, for the context (`reason`)."""
    log: str


class RenderJob(msgspec.Struct, frozen=True, kw_only=True, tag="render", omit_defaults=True):
    """Render the template fields of a task as its try would, without running it."""

    run: RunInfo
    task_id: str
    map_path: tuple[int, ...] = ()
    try_number: int = 1
    max_tries: int = 0
    file: str
    root: str = ""
    timezone: str = "UTC"
    log: str | None = None
    """Absolute path of a file or named pipe; the child's stdout and stderr are appended to it.
    None: they go where the zygote's go."""


class MeasureJob(msgspec.Struct, frozen=True, kw_only=True, tag="measure", omit_defaults=True):
    """Measure what a task has declared to write (`flow.process.measure`)."""

    run: RunInfo
    task_id: str
    map_path: tuple[int, ...] = ()
    try_number: int = 1
    max_tries: int = 0
    file: str
    root: str = ""
    timezone: str = "UTC"
    log: str


class ParseJob(msgspec.Struct, frozen=True, kw_only=True, tag="parse", omit_defaults=True):
    """Import one DAG file and report the DAGs it defines."""

    file: str
    root: str
    """The DAG folder, put on sys.path."""
    timezone: str = "UTC"
    """Zone of DAGs whose start date names none."""
    log: str | None = None
    """Absolute path of a file or named pipe; the child's stdout and stderr are appended to it.
    None: they go where the zygote's go."""
    memory: int | None = None
    """Bytes of data that each of the import's processes may have (RLIMIT_DATA); None: no limit."""
    timeout: float | None = None
    """Seconds after which the supervisor stops the import, and of CPU that each of its processes
    may use; None: no limit."""
    observe: bool = False
    """Tell also what the import does beside defining DAGs, and the time of every module."""


Job = TaskJob | CallbackJob | RenderJob | MeasureJob | ParseJob
