"""`Reason`: why a task or a run waits, or ended as it did: a stable code with its facts.

The rules themselves say why, so that `flow why` cannot disagree with the scheduler. A *gate* is a
pure function that returns None when it is open, else the `Reason` that closes it. Who decides asks
only whether it is None; `flow why` shows it. A reason carries facts and no sentence: gates are
asked many thousand times a second, and the text is made when somebody reads it.

How a gate is added:

- Here, a `Code`, and its sentence in `TEXTS`, with the facts in braces (a test holds them against
  each other). One reason is one sentence: what has more to say returns several.
- A gate of a task within its run (its past, a limit that `decide` itself keeps) is called by
  `flow.decide.run` once the trigger rule lets the task go; what it returns is put into
  `Decision.closed` under the task's id. Nothing else is needed: `flow why` decides the run anew
  with a complete view, and shows what is closed.
- A gate of admission names its code in `Room.refusal`; the numbers come from a function next to it,
  `(candidate, what was counted) -> list[Reason]`, that `flow why` calls with the counts of the
  moment.

A task or a run that has ended keeps its reason as a text for people. Where `flow why` has more to
say than that, its code stands beside it in the column `reason_code`, written by whoever ended it:
the text may be a user's own, so nothing is read from it.

`refers_to` is written as in the audit: `dag/run/task`, `dag/run`, `dag`, or `pool:name`,
`queue:name`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

Fact = str | int | float | datetime
Facts = Mapping[str, Fact]

NO_REASON: Final = "no reason was given"
"""The text of a reason that nobody has written."""


class Code(StrEnum):
    """What `flow why` can say. Programs rely on the values."""

    # a task and its upstream
    UPSTREAM = "upstream"
    TRIGGER_RULE = "trigger_rule"
    SKIPPED_BY = "skipped_by"
    CAUSE = "cause"
    DUE = "due"
    # a task that waits by itself
    RETRY_DUE = "retry_due"
    RESCHEDULE_DUE = "reschedule_due"
    DEFERRED = "deferred"
    AWAITING_INPUT = "awaiting_input"
    RESTARTING = "restarting"
    # a task and the previous run
    PAST_UNFINISHED = "past_unfinished"
    PAST_FAILED = "past_failed"
    PAST_MISSING = "past_missing"
    # a run that is to end before its tasks have
    DAGRUN_TIMEOUT = "dagrun_timeout"
    FAIL_FAST = "fail_fast"
    # a ready task and the limits of admission
    QUEUE_UNSERVED = "queue_unserved"
    RUN_FULL = "run_full"
    DAG_FULL = "dag_full"
    TASK_IN_RUN_FULL = "task_in_run_full"
    TASK_IN_DAG_FULL = "task_in_dag_full"
    POOL_UNKNOWN = "pool_unknown"
    POOL_CLOSED = "pool_closed"
    POOL_TOO_SMALL = "pool_too_small"
    POOL_FULL = "pool_full"
    POOL_ROOM = "pool_room"
    POOL_KEPT = "pool_kept"
    POOL_HOLDER = "pool_holder"
    POOL_AHEAD = "pool_ahead"
    RUN_PAUSED = "run_paused"
    HELD = "held"
    # a task and its worker
    QUEUED = "queued"
    WORKERS = "workers"
    RUNNING = "running"
    # how a task or a run ended
    SUCCESS = "success"
    FAILED = "failed"
    EXIT_CODE = "exit_code"
    SIGNAL = "signal"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    WORKER_LOST = "worker_lost"
    CODE_MISSING = "code_missing"
    CODE_MISMATCH = "code_mismatch"
    MARKED = "marked"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    ENDED = "ended"
    LEAVES = "leaves"
    # a callback that has not run
    CALLBACK_UNSERVED = "callback_unserved"
    CALLBACK_GIVEN_UP = "callback_given_up"
    # a run that has not started
    ACTIVE_RUNS = "active_runs"
    OLDEST_RUN = "oldest_run"
    RUNS_AHEAD = "runs_ahead"
    BACKFILL_PAUSED = "backfill_paused"
    BACKFILL_FULL = "backfill_full"
    BACKFILL_TURN = "backfill_turn"
    # a run that does not exist, and anything that nobody moves
    DAG_PAUSED = "dag_paused"
    PAUSE_REASON = "pause_reason"
    DAG_GONE = "dag_gone"
    IMPORT_ERROR = "import_error"
    NO_SCHEDULE = "no_schedule"
    NO_MORE_RUNS = "no_more_runs"
    NO_INTERVAL = "no_interval"
    NOT_DUE = "not_due"
    BEFORE_START = "before_start"
    AFTER_END = "after_end"
    NOT_CAUGHT_UP = "not_caught_up"
    PASSED = "passed"
    BEHIND = "behind"
    NO_SCHEDULER = "no_scheduler"


TEXTS: Final[dict[Code, str]] = {
    Code.UPSTREAM: "trigger rule {rule}: {unfinished} of {total} upstream tasks have not ended: "
    "{names}",
    Code.TRIGGER_RULE: "trigger rule {rule}: of {total} upstream tasks {ended}",
    Code.SKIPPED_BY: "{task} chose to skip it",
    Code.CAUSE: "{chain}: {task} is {state}: {reason}",
    Code.DUE: "every gate is open: a scheduler moves it at its next pass",
    Code.RETRY_DUE: "try {number} of {allowed} failed ({reason}); the next one starts at {at}",
    Code.RESCHEDULE_DUE: "it looks again at {at}",
    Code.DEFERRED: "it waits for its trigger, without a process",
    Code.AWAITING_INPUT: "it waits for somebody's answer",
    Code.RESTARTING: "it was cleared and runs again once its process on {worker} is dead",
    Code.PAST_UNFINISHED: "the previous run has not got there: {task} of {run} is {state}",
    Code.PAST_FAILED: "the previous run failed: {task} of {run} is {state}; it goes on after "
    "flow clear {dag} {run} --only-failed, or flow tasks mark {dag} {run} {task} success",
    Code.PAST_MISSING: "the previous run {run} does not have {task}, and "
    "ignore_first_depends_on_past is False",
    Code.DAGRUN_TIMEOUT: "dagrun_timeout: the run was not over after {seconds:g} s",
    Code.FAIL_FAST: "fail_fast: {task} failed",
    Code.QUEUE_UNSERVED: "no live worker serves queue {queue} of executor {executor}",
    Code.RUN_FULL: "max_active_tasks: {used} of {limit} tasks of the run are active",
    Code.DAG_FULL: "concurrency: {used} of {limit} tasks of the DAG are active over all its runs",
    Code.TASK_IN_RUN_FULL: "max_active_tis_per_dagrun: {used} of {limit} instances of {task} "
    "are active in the run",
    Code.TASK_IN_DAG_FULL: "max_active_tis_per_dag: {used} of {limit} instances of {task} are "
    "active over all runs",
    Code.POOL_UNKNOWN: "there is no pool {pool}; make it: flow pools set {pool} N",
    Code.POOL_CLOSED: "pool {pool} has 0 slots: nothing starts",
    Code.POOL_TOO_SMALL: "pool {pool}: it needs {slots} of {limit} slots: it can never start",
    Code.POOL_FULL: "pool {pool}: {used} of {limit} slots used, and it needs {slots}",
    Code.POOL_ROOM: "pool {pool} has room: another limit keeps it waiting, or those who come first",
    Code.POOL_KEPT: "pool {pool} is kept for {holder}, which has waited too long and needs {slots} "
    "slots",
    Code.POOL_HOLDER: "oldest holder of pool {pool}: {holder}, since {at}",
    Code.POOL_AHEAD: "ready tasks that go first in pool {pool}: {ahead}",
    Code.RUN_PAUSED: "the run is paused",
    Code.HELD: "the task is held",
    Code.QUEUED: "it has waited since {at} for a worker of queue {queue}; {ahead} tasks go first",
    Code.WORKERS: "live workers of queue {queue}: {workers}; {used} of their {slots} slots are in "
    "use",
    Code.RUNNING: "try {number} of {allowed} has run since {at} on {worker}",
    Code.SUCCESS: "try {number} of {allowed} succeeded",
    Code.FAILED: "try {number} of {allowed} failed: {reason}",
    Code.EXIT_CODE: "its process ended with exit code {exit_code}",
    Code.SIGNAL: "its process was ended by signal {signal} ({name})",
    Code.TIMEOUT: "try {number} of {allowed} took too long: {reason}",
    Code.OUT_OF_MEMORY: "try {number} of {allowed} was ended for want of memory: {reason}",
    Code.WORKER_LOST: "try {number} of {allowed} went down with its worker: {reason}",
    Code.CODE_MISSING: "try {number} of {allowed} did not find its code: {reason}",
    Code.CODE_MISMATCH: "try {number} of {allowed} did not find the code of its run's version: "
    "{reason}",
    Code.MARKED: "{reason}",
    Code.CANCELLED: "{reason}",
    Code.SKIPPED: "it was skipped: {reason}",
    Code.ENDED: "{reason}",
    Code.LEAVES: "its final tasks: {ended}",
    Code.CALLBACK_UNSERVED: "its {kind} callback waits: no live worker serves queue {queue} of "
    "executor {executor}",
    Code.CALLBACK_GIVEN_UP: "its {kind} callback was given up: {reason}",
    Code.ACTIVE_RUNS: "max_active_runs: {used} of {limit} runs of the DAG are running",
    Code.OLDEST_RUN: "oldest running run: {run}, since {at}",
    Code.RUNS_AHEAD: "queued runs of the DAG that start first: {ahead}",
    Code.BACKFILL_PAUSED: "backfill {backfill} is paused: it goes on after flow backfills resume "
    "{backfill}",
    Code.BACKFILL_FULL: "backfill {backfill}: {used} of {limit} runs are running",
    Code.BACKFILL_TURN: "backfill {backfill}: {ahead} of its intervals go first",
    Code.DAG_PAUSED: "the DAG is paused: no run of it is created or started",
    Code.PAUSE_REASON: "it was paused by Flow: {reason}",
    Code.DAG_GONE: "its file does not define the DAG any more: no run of it is created",
    Code.IMPORT_ERROR: "{file} cannot be imported since {at}, and version {version} goes on: "
    "{error}",
    Code.NO_SCHEDULE: "the DAG has no schedule: somebody starts its runs",
    Code.NO_MORE_RUNS: "the schedule has no more runs",
    Code.NO_INTERVAL: "no interval of the schedule starts then; the nearest: {nearest}",
    Code.NOT_DUE: "its interval starts at {start}, and the run is due at {at}",
    Code.BEFORE_START: "it is before the start_date, {at}",
    Code.AFTER_END: "it is after the end_date, {at}",
    Code.NOT_CAUGHT_UP: "catchup={catchup}: intervals before the latest complete one get no run",
    Code.PASSED: "the schedule has passed it, now stands at {at}, and never goes back",
    Code.BEHIND: "the schedule comes to it after the interval that starts at {start}",
    Code.NO_SCHEDULER: "no scheduler is alive: nothing is created, started or decided",
}


class Reason(NamedTuple):
    """One sentence of an answer to why. Dates among the facts are aware."""

    code: Code
    facts: Facts = MappingProxyType({})
    since: datetime | None = None
    """Since when it has been so, where that is known."""
    refers_to: str | None = None
    """What is in the way, or what explains it further."""

    def text(self, zone: tzinfo = UTC) -> str:
        """The sentence; times in `zone`, with their offset."""
        return TEXTS[self.code].format_map(
            {
                name: value.astimezone(zone).isoformat(timespec="seconds")
                if isinstance(value, datetime)
                else value
                for name, value in self.facts.items()
            }
        )
