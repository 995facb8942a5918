"""`Ending`: what the end of a try comes to, whoever found out how it ended."""

from __future__ import annotations

from typing import NamedTuple

from flow.decide.after import TryFacts, after_loss
from flow.states import TaskState, TryState


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


def lost(task: TryFacts, reason: str) -> Ending:
    """The end of a try that went down with its zygote or its worker, or was never started."""
    after = after_loss(task)
    return Ending(
        state=after.state,
        try_state=TryState.LOST if after.again else TryState.FAILED,
        reason=reason if after.again else f"worker_lost: {reason}",
        delay=after.delay,
        again=after.again,
    )


def callback_after(state: TaskState) -> str | None:
    """The kind of callback that is owed when a try ended so without having called it itself."""
    return {TaskState.FAILED: "failure", TaskState.UP_FOR_RETRY: "retry"}.get(state)
