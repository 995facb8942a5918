"""`DagSpec`: a DAG as plain data, without a line of user code.

Durations are seconds (float), dates are aware UTC datetimes, ids are full ids (with group prefix).
Defaults are left out of the JSON, so a new field with a default changes no hash, and a reader
ignores fields that it does not know yet.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from flow.timetables import Never, Timetable

HIGHEST_PRIORITY = 2**31 - 1
LOWEST_PRIORITY = -(2**31)
"""What the weights of a DAG can add up to at most: the greatest int32."""
DEFAULT_POOL = "default_pool"
DEFAULT_QUEUE = "default"
DEFAULT_EXECUTOR = "local"


class TriggerRule(StrEnum):
    """When a task may go, given how its direct upstream tasks ended (see `flow.decide.rules`)."""

    ALL_SUCCESS = "all_success"
    ALL_FAILED = "all_failed"
    ALL_DONE = "all_done"
    ALL_DONE_MIN_ONE_SUCCESS = "all_done_min_one_success"
    ALL_DONE_SETUP_SUCCESS = "all_done_setup_success"
    ONE_SUCCESS = "one_success"
    ONE_FAILED = "one_failed"
    ONE_DONE = "one_done"
    NONE_FAILED = "none_failed"
    NONE_FAILED_MIN_ONE_SUCCESS = "none_failed_min_one_success"
    NONE_SKIPPED = "none_skipped"
    ALL_SKIPPED = "all_skipped"
    ALWAYS = "always"


class FileOutlet(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag="file"):
    """A file or folder that a task writes; `path` may be a template."""

    path: str


class TableOutlet(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag="table"):
    """A table that a task writes; `conn` and `name` may be templates."""

    conn: str
    name: str
    interval_column: str | None = None
    """Says to which data interval a row belongs; None: every run writes the whole table."""
    ignore: tuple[str, ...] = ()
    """Columns that may differ each time the same row is written."""


OutletSpec = FileOutlet | TableOutlet
"""What a task declares to write. Further kinds, such as assets, get tags of their own."""


class TaskSpec(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """One task. `priority` is the effective weight, after the weight rule and the int32 cap."""

    task_id: str
    operator: str
    upstream: tuple[str, ...] = ()
    """Direct upstream task ids, sorted."""
    trigger_rule: TriggerRule = TriggerRule.ALL_SUCCESS
    runs_code: bool = True
    """False: nothing to execute and no callbacks, so the scheduler itself sets it to success."""
    group: str | None = None
    owner: str = "airflow"
    retries: int = 0
    retry_delay: float = 300.0
    retry_exponential_backoff: float = 0.0
    """Multiplier of the delay per try; 0 is a fixed delay."""
    max_retry_delay: float | None = None
    execution_timeout: float | None = None
    pool: str = DEFAULT_POOL
    pool_slots: int = 1
    queue: str = DEFAULT_QUEUE
    executor: str = DEFAULT_EXECUTOR
    priority: int = 1
    max_active_tis_per_dagrun: int | None = None
    """Limit of active instances of the task within one run; None is no limit."""
    max_active_tis_per_dag: int | None = None
    """Limit of active instances of the task over all runs of the DAG; None is no limit."""
    start_date: datetime | None = None
    """Runs of earlier logical dates pass the task over (`flow.decide.window`)."""
    end_date: datetime | None = None
    """Runs of later logical dates pass the task over."""
    depends_on_past: bool = False
    """Waits for its own instance in the previous run of the chain (`flow.decide.past`)."""
    wait_for_downstream: bool = False
    """Waits there also for what is directly downstream of it; implies `depends_on_past`."""
    ignore_first_depends_on_past: bool = True
    """Goes when the previous run does not have the task; False: waits for one that has."""
    wait_for_past_depends_before_skipping: bool = False
    """Its past has to let it go also before it is skipped."""
    callbacks: tuple[str, ...] = ()
    """Which task callbacks the file defines: execute, success, failure, retry, skipped."""
    outlets: tuple[OutletSpec, ...] = ()
    """What it declares to write, in the order of the file."""
    display_name: str | None = None
    doc: str | None = None

    @property
    def has_window(self) -> bool:
        """Whether some runs pass the task over."""
        return self.start_date is not None or self.end_date is not None


class GroupSpec(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """One task group; groups are for reading, their edges are already edges between tasks."""

    group_id: str
    parent: str | None = None
    tooltip: str = ""


class DagSpec(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One DAG. `tasks` and `groups` are sorted by id: order of definition changes no hash."""

    dag_id: str
    tasks: tuple[TaskSpec, ...] = ()
    groups: tuple[GroupSpec, ...] = ()
    timetable: Timetable = Never()
    timezone: str = "UTC"
    start_date: datetime | None = None
    end_date: datetime | None = None
    catchup: bool | str = False
    """False: the latest complete interval only; True: all of them; "none": the next tick."""
    max_active_runs: int = 16
    max_active_tasks: int = 16
    """Limit of active tasks within one run."""
    concurrency: int | None = None
    """Limit of active tasks over all runs of the DAG; None is no limit."""
    dagrun_timeout: float | None = None
    """Longest time of a run from its start."""
    fail_fast: bool = False
    """A failed task ends its whole run."""
    max_consecutive_failed_dag_runs: int = 0
    """Failed runs in a row after which the DAG is paused; 0: never."""
    paused_at_creation: bool | None = None
    """None: as `flow.toml` says."""
    code: str | None = None
    """`pinned` or `latest`; None: as the bundle or `flow.toml` says."""
    params: dict[str, Any] = {}
    callbacks: tuple[str, ...] = ()
    """Which run callbacks the file defines: "success", "failure"."""
    edge_labels: dict[str, str] = {}
    """Labels of edges, keyed "upstream→downstream"."""
    description: str | None = None
    doc_md: str | None = None
    display_name: str | None = None
    tags: tuple[str, ...] = ()
    owner_links: dict[str, str] = {}
