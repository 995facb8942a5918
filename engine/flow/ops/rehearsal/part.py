"""One task of a rehearsal: the row that a store would keep of it, and its tries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from flow.decide import Ending, TaskFacts
from flow.graph.spec import TaskSpec
from flow.ops.rehearsal.news import TaskResult, TryResult
from flow.process.jobs import LastTask
from flow.states import TaskState, TryState


@dataclass(slots=True)
class Part:
    """State of one task, with what deciding about its tries needs. Durations in seconds."""

    spec: TaskSpec
    dag_id: str
    run_id: str
    state: TaskState = TaskState.NONE
    try_number: int = 0
    max_tries: int = field(init=False)
    losses: int = 0
    due_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    pid: int | None = None
    reason: str | None = None
    skips: frozenset[str] = frozenset()
    tries: list[TryResult] = field(default_factory=list)
    run_key: int = 0

    def __post_init__(self) -> None:
        self.max_tries = self.spec.retries + 1

    @property
    def task_id(self) -> str:
        return self.spec.task_id

    @property
    def retry_delay(self) -> float:
        return self.spec.retry_delay

    @property
    def retry_backoff(self) -> float:
        return self.spec.retry_exponential_backoff

    @property
    def max_retry_delay(self) -> float | None:
        return self.spec.max_retry_delay

    @property
    def execution_timeout(self) -> float | None:
        return self.spec.execution_timeout

    @property
    def facts(self) -> TaskFacts:
        """What deciding needs of it."""
        return TaskFacts(self.state, self.due_at)

    @property
    def name(self) -> str:
        """The task, with the number of the try from the second on."""
        return self.task_id if self.try_number <= 1 else f"{self.task_id} ({self.try_number})"

    def change(self, state: TaskState, reason: str | None, now: datetime) -> None:
        """Take on what was decided."""
        if state is TaskState.SCHEDULED and self.state is not TaskState.UP_FOR_RESCHEDULE:
            self.try_number += 1
        if state is TaskState.SUCCESS:  # there was nothing to run
            self.started_at = self.ended_at = now
        self.state, self.reason, self.due_at = state, reason, None

    def begin(self, now: datetime) -> None:
        """A try starts."""
        self.state, self.reason = TaskState.RUNNING, None
        self.started_at, self.ended_at, self.pid = now, None, None

    def end(self, ending: Ending, now: datetime, *, wait: bool) -> None:
        """Its try has ended. Without `wait` the next one is due at once."""
        self._keep(ending.try_state.value, now, ending)
        self.state, self.reason = ending.state, ending.reason
        self.skips = frozenset(ending.skips)
        self.losses = self.losses + 1 if ending.again else 0
        if ending.again:
            self.try_number += 1
            self.max_tries += 1
        if ending.delay is not None:
            self.due_at = now + timedelta(seconds=ending.delay if wait else 0.0)

    def interrupt(self, now: datetime) -> None:
        """Its try was ended because somebody ended the rehearsal."""
        self.end(Ending(TaskState.FAILED, TryState.FAILED, "interrupted"), now, wait=False)

    def _keep(self, state: str, now: datetime, ending: Ending) -> None:
        self.ended_at = now
        self.tries.append(
            TryResult(
                try_number=self.try_number,
                state=state,
                started_at=self.started_at or now,
                ended_at=now,
                pid=self.pid,
                exit_code=ending.exit_code,
                signal=ending.signal,
                reason=ending.reason,
                peak_rss_bytes=ending.peak_rss,
                cpu_s=ending.cpu_time,
            )
        )

    def as_last(self) -> LastTask:
        """What the callbacks of its run see of it."""
        return LastTask(
            task_id=self.task_id,
            state=self.state.value,
            try_number=self.try_number,
            max_tries=self.max_tries,
        )

    def result(self) -> TaskResult:
        """What is told of it at the end."""
        began, ended = self.started_at, self.ended_at
        seconds = (ended - began).total_seconds() if began and ended else None
        return TaskResult(
            dag_id=self.dag_id,
            run_id=self.run_id,
            task_id=self.task_id,
            map_index=[],
            state=self.state.value,
            try_number=self.try_number,
            max_tries=self.max_tries,
            started_at=began,
            ended_at=ended,
            duration_s=seconds,
            reason=self.reason,
            operator=self.spec.operator,
            tries=self.tries,
        )


def last_of(parts: Iterable[Part], *, failed: bool) -> Part | None:
    """What callbacks of a run see, as `flow.store.callbacks` chooses it, if any task has begun.

    Of a run that `failed` the task that failed first, else the one that ended last.
    """
    ended = [(part.ended_at, part) for part in parts if part.try_number and part.ended_at]
    ended.sort(key=lambda one: one[0])
    causes = [part for _, part in ended if failed and part.state is TaskState.FAILED]
    return causes[0] if causes else ended[-1][1] if ended else None
