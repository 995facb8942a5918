"""What `flow dags diff` prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flow_cli.records import plain

if TYPE_CHECKING:
    from flow.ops.dag_diff import DagDiff, Differences, FieldChange

SHOWN_HASH = 12


def describe_diff(diff: DagDiff) -> tuple[list[str], dict[str, Any]]:
    """A comparison as lines for people, and as the JSON object that says the same."""
    found = diff.differences
    lines = [f"{diff.dag_id}: version {diff.before.number} -> {diff.after.number}"]
    lines += difference_lines(found)
    if not found.any:
        lines.append("  the graph is the same")
    if diff.code_changed:
        was, now = (one.code_hash[:SHOWN_HASH] for one in (diff.before, diff.after))
        lines.append(f"  code: {was} -> {now}")
    document = {
        "dag_id": diff.dag_id,
        "before": diff.before.number,
        "after": diff.after.number,
        **{name: plain(value) for name, value in found._asdict().items()},
        "code_changed": diff.code_changed,
    }
    return lines, document


def difference_lines(found: Differences) -> list[str]:
    """What differs, a line each."""
    return [
        *(f"  {_change(change)}" for change in found.fields),
        *(f"  + {task_id}" for task_id in found.tasks_added),
        *(f"  - {task_id}" for task_id in found.tasks_removed),
        *(
            f"  ~ {task.task_id}: {', '.join(map(_change, task.fields))}"
            for task in found.tasks_changed
        ),
        *(f"  + {upstream} >> {task_id}" for upstream, task_id in found.edges_added),
        *(f"  - {upstream} >> {task_id}" for upstream, task_id in found.edges_removed),
    ]


def _change(change: FieldChange) -> str:
    return f"{change.field} {_value(change.before)} -> {_value(change.after)}"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
