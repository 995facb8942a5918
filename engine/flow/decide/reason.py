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


class Code(StrEnum):
    """What `flow why` can say. Programs rely on the values."""

    # a task and its upstream
    UPSTREAM = "upstream"
    TRIGGER_RULE = "trigger_rule"
    DUE = "due"
    # a ready task and the limits of admission
    QUEUE_UNSERVED = "queue_unserved"
    RUN_FULL = "run_full"
    DAG_FULL = "dag_full"
    POOL_FULL = "pool_full"
    RUN_PAUSED = "run_paused"
    HELD = "held"


TEXTS: Final[dict[Code, str]] = {
    Code.UPSTREAM: "trigger rule {rule}: {unfinished} of {total} upstream tasks have not ended: "
    "{names}",
    Code.TRIGGER_RULE: "trigger rule {rule}: of {total} upstream tasks {ended}",
    Code.DUE: "every gate is open: a scheduler moves it at its next pass",
    Code.QUEUE_UNSERVED: "no live worker serves queue {queue} of executor {executor}",
    Code.RUN_FULL: "max_active_tasks: {used} of {limit} tasks of the run are active",
    Code.DAG_FULL: "concurrency: {used} of {limit} tasks of the DAG are active over all its runs",
    Code.POOL_FULL: "pool {pool}: {used} of {limit} slots used, and it needs {slots}",
    Code.RUN_PAUSED: "the run is paused",
    Code.HELD: "the task is held",
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
                name: value.astimezone(zone).isoformat(" ", "seconds")
                if isinstance(value, datetime)
                else value
                for name, value in self.facts.items()
            }
        )
