"""What `flow why` prints as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from flow.ops.why import Answer, Reason


def json_of(answer: Answer) -> dict[str, Any]:
    """The JSON object that says the same as the words for people."""
    zone = ZoneInfo(answer.timezone)
    return {
        "dag_id": answer.dag_id,
        "run_id": answer.run_id,
        "task_id": answer.task_id,
        "map_index": answer.map_index,
        "state": answer.state,
        "verdict": answer.verdict,
        "reasons": [_reason(reason, zone) for reason in answer.reasons],
        "tasks": [
            {
                "task_id": task.task_id,
                "map_index": task.map_index,
                "state": task.state,
                "verdict": task.verdict,
                "reasons": [_reason(reason, zone) for reason in task.reasons],
            }
            for task in answer.tasks
        ],
        "unfinished": answer.unfinished,
    }


def _reason(reason: Reason, zone: ZoneInfo) -> dict[str, Any]:
    return {
        "code": reason.code,
        "text": reason.text(zone),
        "since": reason.since,
        "refers_to": reason.refers_to,
        "facts": dict(reason.facts),
    }
