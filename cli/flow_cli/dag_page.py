"""What `flow dags show` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flow.wording import dags
from flow_cli.records import plain, row_of

if TYPE_CHECKING:
    from flow.ops.dags import DagDetails


def describe(details: DagDetails) -> tuple[list[str], dict[str, Any]]:
    """A DAG as lines for people, and as the JSON object that says the same."""
    return dags.describe(details), _json(details)


def _json(details: DagDetails) -> dict[str, Any]:
    tasks = [
        {
            "task_id": task.task_id,
            "operator": task.operator,
            "group": task.group,
            "upstream": list(task.upstream),
            "trigger_rule": task.trigger_rule.value,
            "retries": task.retries,
            "pool": task.pool,
            "queue": task.queue,
            "priority": task.priority,
        }
        for task in details.order
    ]
    return {
        **row_of(details.dag),
        "present": details.present,
        "description": details.description,
        "line": details.line,
        "tasks": tasks,
        "next_runs": plain(details.next_runs),
        "versions": plain(details.versions),
        "error": details.error,
        "timetable_error": details.timetable.error if details.timetable else None,
        "warnings": details.warnings,
    }
