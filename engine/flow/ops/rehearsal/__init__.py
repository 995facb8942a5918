"""`flow test`: a run of a DAG file in the process tree of one command, without any database.

The file is imported, its DAG decided and its tasks run as the roles do it: the same zygote, one
process a try, the same decision function, the same rules of what an ended process means. Only what
a store would keep (states, XComs, variables, connections) is held in memory.
"""

from flow.ops.rehearsal.definition import ImportFailed
from flow.ops.rehearsal.news import (
    Again,
    Began,
    Contents,
    News,
    OutputResult,
    Result,
    Said,
    TaskResult,
    TryEnded,
    TryResult,
    Verdict,
    Warned,
)
from flow.ops.rehearsal.rehearse import Settings, rehearse
from flow.ops.rehearsal.request import Request

__all__ = [
    "Again",
    "Began",
    "Contents",
    "ImportFailed",
    "News",
    "OutputResult",
    "Request",
    "Result",
    "Said",
    "Settings",
    "TaskResult",
    "TryEnded",
    "TryResult",
    "Verdict",
    "Warned",
    "rehearse",
]
