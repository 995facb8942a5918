"""What becomes of a task when its try has ended."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from flow.decide.retry import RetryPolicy, retry_delay
from flow.states import MAX_LOSSES, TaskState


class TryFacts(Protocol):
    """What is known of a try and its task. Durations in seconds."""

    @property
    def dag_id(self) -> str: ...
    @property
    def run_key(self) -> int: ...
    @property
    def task_id(self) -> str: ...
    @property
    def try_number(self) -> int: ...
    @property
    def max_tries(self) -> int: ...
    @property
    def losses(self) -> int: ...
    @property
    def retry_delay(self) -> float: ...
    @property
    def retry_backoff(self) -> float: ...
    @property
    def max_retry_delay(self) -> float | None: ...


class AfterTry(NamedTuple):
    """The task's next state."""

    state: TaskState
    delay: float | None = None
    """Seconds until the next try, for up_for_retry."""
    again: bool = False
    """The try consumed no retry: scheduled at once under the next number, one more allowed."""


def after_failure(facts: TryFacts, *, may_retry: bool = True) -> AfterTry:
    """A try failed: the next one after the task's delay, or the task has failed."""
    if not may_retry or facts.try_number >= facts.max_tries:
        return AfterTry(TaskState.FAILED)
    policy = RetryPolicy(facts.retry_delay, facts.retry_backoff, facts.max_retry_delay)
    seed = f"{facts.dag_id}#{facts.task_id}#{facts.run_key}"
    return AfterTry(TaskState.UP_FOR_RETRY, retry_delay(policy, facts.try_number, seed))


def after_loss(facts: TryFacts) -> AfterTry:
    """A try was lost through no fault of its task: it costs nothing, `MAX_LOSSES` times in a row.

    The next loss is a failed try, to which retries apply: a task that kills its workers must end.
    """
    if facts.losses < MAX_LOSSES:
        return AfterTry(TaskState.SCHEDULED, again=True)
    return after_failure(facts)
