"""The thirteen trigger rules as one table.

Source of the rules: Airflow 3.3's `TriggerRuleDep`. Counts are over *finished* direct upstream
instances: success, skipped, failed, upstream_failed, removed; `total` counts all of them, mapped
ones one by one. A task without upstream tasks always passes.

Every rule either waits or ends in exactly one of run, skipped, upstream_failed, removed; when all
upstream instances have finished, no rule waits.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple

from flow.graph.spec import TriggerRule
from flow.states import TaskState


class Outlook(Enum):
    """What a trigger rule says about a task."""

    WAIT = "wait"
    RUN = "run"
    SKIP = "skip"
    UPSTREAM_FAILED = "upstream_failed"


class Tally(NamedTuple):
    """How many direct upstream instances there are, and how many ended in which way."""

    total: int
    success: int = 0
    skipped: int = 0
    failed: int = 0
    upstream_failed: int = 0
    removed: int = 0
    setups: int = 0
    """Setup tasks among the upstream instances."""
    setups_success: int = 0
    setups_skipped: int = 0

    @property
    def done(self) -> int:
        """Finished instances."""
        return self.success + self.skipped + self.failed + self.upstream_failed + self.removed

    @property
    def all_done(self) -> bool:
        """Whether every instance has finished."""
        return self.done >= self.total

    @property
    def bad(self) -> int:
        """Instances that failed, themselves or through their own upstream."""
        return self.failed + self.upstream_failed


def tally(states: list[TaskState]) -> Tally:
    """Count upstream states (no setup tasks among them)."""
    count = states.count
    return Tally(
        total=len(states),
        success=count(TaskState.SUCCESS),
        skipped=count(TaskState.SKIPPED),
        failed=count(TaskState.FAILED),
        upstream_failed=count(TaskState.UPSTREAM_FAILED),
        removed=count(TaskState.REMOVED),
    )


def _all_success(t: Tally) -> Outlook:
    if t.bad:
        return Outlook.UPSTREAM_FAILED
    if t.skipped:
        return Outlook.SKIP
    return _run_if(t.success + t.removed >= t.total)


def _all_failed(t: Tally) -> Outlook:
    if t.success or t.skipped:
        return Outlook.SKIP
    return _run_if(t.bad + t.removed >= t.total)


def _all_done(t: Tally) -> Outlook:
    return _run_if(t.all_done)


def _all_done_min_one_success(t: Tally) -> Outlook:
    if t.skipped:
        return Outlook.SKIP
    if not t.all_done:
        return Outlook.WAIT
    return Outlook.RUN if t.success else Outlook.UPSTREAM_FAILED


def _all_done_setup_success(t: Tally) -> Outlook:
    if not t.all_done:
        return Outlook.WAIT
    if not t.setups or t.setups_success:
        return Outlook.RUN
    return Outlook.SKIP if t.setups_skipped >= t.setups else Outlook.UPSTREAM_FAILED


def _one_success(t: Tally) -> Outlook:
    if t.success:
        return Outlook.RUN
    if not t.all_done:
        return Outlook.WAIT
    return Outlook.SKIP if t.skipped >= t.total else Outlook.UPSTREAM_FAILED


def _one_failed(t: Tally) -> Outlook:
    if t.bad:
        return Outlook.RUN
    return Outlook.SKIP if t.all_done else Outlook.WAIT


def _one_done(t: Tally) -> Outlook:
    if t.success or t.failed:
        return Outlook.RUN
    return Outlook.SKIP if t.all_done else Outlook.WAIT


def _none_failed(t: Tally) -> Outlook:
    if t.bad:
        return Outlook.UPSTREAM_FAILED
    return _run_if(t.success + t.skipped + t.removed >= t.total)


def _none_failed_min_one_success(t: Tally) -> Outlook:
    if t.bad:
        return Outlook.UPSTREAM_FAILED
    if not t.all_done:
        return Outlook.WAIT
    if t.success:
        return Outlook.RUN
    return Outlook.SKIP if t.skipped >= t.total else Outlook.UPSTREAM_FAILED


def _none_skipped(t: Tally) -> Outlook:
    if t.skipped:
        return Outlook.SKIP
    return _run_if(t.all_done)


def _all_skipped(t: Tally) -> Outlook:
    if t.success or t.bad:
        return Outlook.SKIP
    return _run_if(t.skipped + t.removed >= t.total)


def _always(_: Tally) -> Outlook:
    return Outlook.RUN


def _run_if(satisfied: bool) -> Outlook:
    return Outlook.RUN if satisfied else Outlook.WAIT


RULES: Final[dict[TriggerRule, Callable[[Tally], Outlook]]] = {
    TriggerRule.ALL_SUCCESS: _all_success,
    TriggerRule.ALL_FAILED: _all_failed,
    TriggerRule.ALL_DONE: _all_done,
    TriggerRule.ALL_DONE_MIN_ONE_SUCCESS: _all_done_min_one_success,
    TriggerRule.ALL_DONE_SETUP_SUCCESS: _all_done_setup_success,
    TriggerRule.ONE_SUCCESS: _one_success,
    TriggerRule.ONE_FAILED: _one_failed,
    TriggerRule.ONE_DONE: _one_done,
    TriggerRule.NONE_FAILED: _none_failed,
    TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS: _none_failed_min_one_success,
    TriggerRule.NONE_SKIPPED: _none_skipped,
    TriggerRule.ALL_SKIPPED: _all_skipped,
    TriggerRule.ALWAYS: _always,
}


def outlook(rule: TriggerRule, counted: Tally) -> Outlook:
    """What `rule` says of a task whose direct upstream instances are counted in `counted`."""
    if counted.total == 0:
        return Outlook.RUN
    return RULES[rule](counted)
