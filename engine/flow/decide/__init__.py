"""Deciding, without I/O and without a clock: what may go, what is skipped, when a run is over."""

from flow.decide.admit import Candidate, Refusal, Room, admit
from flow.decide.after import (
    AfterTry,
    Ending,
    TryFacts,
    after_failure,
    after_loss,
    lost,
    orphaned_callback,
)
from flow.decide.decision import Decision, TaskChange, TaskStop
from flow.decide.past import NO_PAST, Past
from flow.decide.reason import Code, Reason
from flow.decide.retry import RetryPolicy, retry_delay
from flow.decide.rules import Outlook, Tally, outlook
from flow.decide.run import RunFacts, decide
from flow.decide.stopping import deadline
from flow.decide.turns import UNIT, Shares, offsets
from flow.decide.view import TaskFacts, View

__all__ = [
    "NO_PAST",
    "UNIT",
    "AfterTry",
    "Candidate",
    "Code",
    "Decision",
    "Ending",
    "Outlook",
    "Past",
    "Reason",
    "Refusal",
    "RetryPolicy",
    "Room",
    "RunFacts",
    "Shares",
    "Tally",
    "TaskChange",
    "TaskFacts",
    "TaskStop",
    "TryFacts",
    "View",
    "admit",
    "after_failure",
    "after_loss",
    "deadline",
    "decide",
    "lost",
    "offsets",
    "orphaned_callback",
    "outlook",
    "retry_delay",
]
