"""The states of tasks and runs, and every transition between them.

One table for each: `TASK_TRANSITIONS` and `RUN_TRANSITIONS`. The store applies a transition as a
compare-and-set on the state it expects, so a transition that is not listed here cannot happen.
A task instance without a row is in state `none`.

                 ┌───────────────────────── up_for_retry ◀──────────────┐
                 ▼                                                      │
    none ──▶ scheduled ──▶ queued ──▶ running ──▶ success · failed · skipped
      │          ▲            │          │
      │          └────────────┘          ├──▶ deferred · up_for_reschedule · awaiting_input
      │       (no live worker serves     │         └──────▶ scheduled (same try)
      │        the queue)                └──▶ scheduled (worker lost: next try)
      └──▶ skipped · upstream_failed · removed
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Final


class TaskState(StrEnum):
    """State of one task instance. The values are what users and the database see."""

    NONE = "none"
    SCHEDULED = "scheduled"
    QUEUED = "queued"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"
    UP_FOR_RETRY = "up_for_retry"
    UP_FOR_RESCHEDULE = "up_for_reschedule"
    DEFERRED = "deferred"
    AWAITING_INPUT = "awaiting_input"
    RESTARTING = "restarting"
    UPSTREAM_FAILED = "upstream_failed"
    REMOVED = "removed"


class RunState(StrEnum):
    """State of one run of a DAG."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"


class RunType(StrEnum):
    """Who made the run. It never changes; a backfill that adopts a run sets `backfill_id`."""

    SCHEDULED = "scheduled"
    MANUAL = "manual"
    BACKFILL = "backfill"
    ASSET = "asset"


class BackfillState(StrEnum):
    """State of a backfill. A paused one starts no run; a cancelled one makes none any more."""

    RUNNING = "running"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    DONE = "done"


T = TaskState

FINISHED: Final = frozenset({T.SUCCESS, T.FAILED, T.SKIPPED, T.UPSTREAM_FAILED, T.REMOVED})
"""States in which a task instance rests until somebody clears it."""

OCCUPYING: Final = frozenset({T.QUEUED, T.RUNNING, T.RESTARTING})
"""States that hold a pool slot and count against limits (deferral counts if its pool says so)."""

HELD: Final = frozenset({T.RUNNING, T.RESTARTING})
"""States in which a worker holds the task, and has a process for it."""

WAITING: Final = frozenset({T.UP_FOR_RETRY, T.UP_FOR_RESCHEDULE})
"""States that end by themselves at a known time."""

FINISHED_RUNS: Final = frozenset({RunState.SUCCESS, RunState.FAILED})

LOUDEST_FIRST: Final = (
    T.FAILED,
    T.UPSTREAM_FAILED,
    T.RUNNING,
    T.RESTARTING,
    T.UP_FOR_RETRY,
    T.AWAITING_INPUT,
    T.DEFERRED,
    T.UP_FOR_RESCHEDULE,
    T.QUEUED,
    T.SCHEDULED,
    T.NONE,
    T.SKIPPED,
    T.REMOVED,
    T.SUCCESS,
)
"""Every state, in the order in which one of several is shown where there is room for one only."""

_MARKS: Final = frozenset({T.SUCCESS, T.FAILED, T.SKIPPED})
"""Verdicts that an operator may set on any task instance."""

TASK_TRANSITIONS: Final[dict[TaskState, frozenset[TaskState]]] = {
    T.NONE: frozenset({T.SCHEDULED, T.UPSTREAM_FAILED, T.REMOVED}) | _MARKS,
    T.SCHEDULED: frozenset({T.QUEUED, T.NONE}) | _MARKS,
    T.QUEUED: frozenset({T.RUNNING, T.SCHEDULED, T.NONE}) | _MARKS,
    T.RUNNING: frozenset(
        {
            T.UP_FOR_RETRY,
            T.UP_FOR_RESCHEDULE,
            T.DEFERRED,
            T.AWAITING_INPUT,
            T.RESTARTING,
            T.SCHEDULED,
        }
    )
    | _MARKS,
    T.RESTARTING: frozenset({T.NONE, T.SCHEDULED}) | _MARKS,
    T.UP_FOR_RETRY: frozenset({T.SCHEDULED, T.NONE}) | _MARKS,
    T.UP_FOR_RESCHEDULE: frozenset({T.SCHEDULED, T.NONE}) | _MARKS,
    T.DEFERRED: frozenset({T.SCHEDULED, T.UP_FOR_RETRY, T.NONE}) | _MARKS,
    T.AWAITING_INPUT: frozenset({T.SCHEDULED, T.UP_FOR_RETRY, T.NONE}) | _MARKS,
    T.SUCCESS: frozenset({T.NONE, T.RESTARTING}) | _MARKS,
    T.FAILED: frozenset({T.NONE, T.RESTARTING}) | _MARKS,
    T.SKIPPED: frozenset({T.NONE, T.RESTARTING}) | _MARKS,
    T.UPSTREAM_FAILED: frozenset({T.NONE}) | _MARKS,
    T.REMOVED: frozenset({T.NONE}),
}
"""From a state to the states that may follow it. `→ none` is a clear (the row stays, with its
try number, so numbers only grow); `→ restarting` is a clear that has to wait until a process is
dead, the task's own or one whose task was marked meanwhile."""

RUN_TRANSITIONS: Final[dict[RunState, frozenset[RunState]]] = {
    RunState.QUEUED: frozenset({RunState.RUNNING, RunState.SUCCESS, RunState.FAILED}),
    RunState.RUNNING: frozenset({RunState.SUCCESS, RunState.FAILED, RunState.QUEUED}),
    RunState.SUCCESS: frozenset({RunState.QUEUED, RunState.FAILED}),
    RunState.FAILED: frozenset({RunState.QUEUED, RunState.SUCCESS}),
}


class TryState(StrEnum):
    """State of one try. A closed try never changes again."""

    RUNNING = "running"
    DEFERRED = "deferred"
    UP_FOR_RESCHEDULE = "up_for_reschedule"
    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"
    LOST = "lost"
    LEASE_EXPIRED = "lease_expired"
    DRAINED = "drained"
    CODE_MISMATCH = "code_mismatch"
    RESTARTED = "restarted"


MAX_LOSSES: Final = 3
"""Losses in a row that cost no retry; the next one is a failed try with reason `worker_lost`."""


def loudest(states: Collection[TaskState]) -> TaskState:
    """The one of several states that a single sign for all of them has to show."""
    return next(state for state in LOUDEST_FIRST if state in states)
