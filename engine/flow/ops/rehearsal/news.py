"""What a rehearsal tells as it goes on, and what it comes to."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple


class Began(NamedTuple):
    """The file has been imported and the run begins."""

    dag_id: str
    run_id: str
    data_interval_start: datetime
    data_interval_end: datetime
    task_ids: list[str]
    """Upstream first."""


class Said(NamedTuple):
    """Output of user code, readable text in pieces as they come; not always whole lines."""

    who: str
    """The task, with the number of the try from the second on; else what else is running."""
    text: str


class Warned(NamedTuple):
    """Something that the person who asked for the rehearsal should know."""

    text: str


class TryEnded(NamedTuple):
    """A try has ended."""

    task_id: str
    try_number: int
    state: str
    """What becomes of the task."""
    reason: str | None
    retry_in: float | None
    """Seconds until the next try, if there is one."""


class TryResult(NamedTuple):
    """One try, in the fields of the contract."""

    try_number: int
    state: str
    started_at: datetime
    ended_at: datetime
    pid: int | None
    exit_code: int | None
    signal: int | None
    reason: str | None
    peak_rss_bytes: int | None
    cpu_s: float | None


class TaskResult(NamedTuple):
    """One task and its tries. The times are those of the last try, `duration_s` its seconds."""

    dag_id: str
    run_id: str
    task_id: str
    map_index: list[int]
    state: str
    try_number: int
    max_tries: int
    started_at: datetime | None
    ended_at: datetime | None
    duration_s: float | None
    reason: str | None
    operator: str
    tries: list[TryResult]


class Again(NamedTuple):
    """The selected tasks have succeeded and are run a second time, for the same interval."""

    task_ids: list[str]


class Verdict(StrEnum):
    """What two runs of a task say about one of its outlets."""

    SAME = "same"
    """Both runs left the same: a retry does no harm."""
    DIFFERS = "differs"
    """The second run left something else."""
    FAILED = "failed"
    """The second run of the task failed, or the outlet cannot be measured."""
    NOTHING = "nothing"
    """There is nothing to compare, so nothing is proven."""


class OutputResult(NamedTuple):
    """An outlet of a task after both runs. `output` is null where the task has declared none."""

    dag_id: str
    task_id: str
    output: str | None
    verdict: Verdict
    before: Contents | None
    """After the first run; null where there was nothing."""
    after: Contents | None
    reason: str | None
    """One line that says more than the verdict."""


class Contents(NamedTuple):
    """What an outlet held. `amount` is of files or rows; `size_bytes` is null for tables."""

    amount: int
    size_bytes: int | None
    digest: str


class Result(NamedTuple):
    """The run as a whole; its tasks upstream first. Of two runs it is the last one."""

    dag_id: str
    run_id: str
    run_type: str
    state: str
    """success or failed; running where somebody interrupted it."""
    reason: str | None
    logical_date: datetime
    data_interval_start: datetime
    data_interval_end: datetime
    started_at: datetime
    ended_at: datetime
    conf: dict[str, Any]
    tasks: list[TaskResult]
    outputs: list[OutputResult]
    """What two runs left; empty where there was one."""
    idempotent: bool | None
    """Whether two runs left the same; null where there was one."""
    file: str
    """Absolute path of the DAG file."""
    line: int
    """Where it makes the DAG."""


News = Began | Again | Said | Warned | TryEnded | Result
