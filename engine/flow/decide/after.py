"""What becomes of a task when its try has ended."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from flow.decide.reason import Code
from flow.decide.retry import RetryPolicy, retry_delay
from flow.states import MAX_LOSSES, TaskState, TryState


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
    """A try was lost, or found other code than its run is pinned to, through no fault of its task:
    it costs nothing, `MAX_LOSSES` times in a row.

    The next loss is a failed try, to which retries apply: a task that kills its workers must end.
    """
    if facts.losses < MAX_LOSSES:
        return AfterTry(TaskState.SCHEDULED, again=True)
    return after_failure(facts)


class Ending(NamedTuple):
    """The end of a try, decided: what becomes of the task, and how the try is closed."""

    state: TaskState
    try_state: TryState
    reason: str | None = None
    delay: float | None = None
    """Seconds until a waiting state ends."""
    again: bool = False
    """The try cost nothing: the task is scheduled for another number, with one more allowed."""
    exit_code: int | None = None
    signal: int | None = None
    peak_rss: int | None = None
    """Bytes."""
    cpu_time: float | None = None
    """Seconds."""
    code_hash: str | None = None
    skips: tuple[str, ...] = ()
    value: str | None = None
    """JSON of the return value, for XCom `return_value`."""
    code: Code | None = None
    """Of the reason, where a failure is more than the task's own."""


def lost(task: TryFacts, reason: str) -> Ending:
    """The end of a try that went down with its zygote or its worker, or was never started."""
    after = after_loss(task)
    return Ending(
        state=after.state,
        try_state=TryState.LOST if after.again else TryState.FAILED,
        reason=reason if after.again else f"worker_lost: {reason}",
        delay=after.delay,
        again=after.again,
        code=None if after.again else Code.WORKER_LOST,
    )


def orphaned_callback(state: TaskState) -> str | None:
    """The kind of callback that a task in `state` is owed when its own process is dead."""
    return {TaskState.FAILED: "failure", TaskState.UP_FOR_RETRY: "retry"}.get(state)
