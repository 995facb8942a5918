"""What `flow dags diff` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flow.wording.differences import describe
from flow_cli.records import plain

if TYPE_CHECKING:
    from flow.ops.dag_diff import DagDiff


def describe_diff(diff: DagDiff) -> tuple[list[str], dict[str, Any]]:
    """A comparison as lines for people, and as the JSON object that says the same."""
    document = {
        "dag_id": diff.dag_id,
        "before": diff.before.number,
        "after": diff.after.number,
        **{name: plain(value) for name, value in diff.differences._asdict().items()},
        "code_changed": diff.code_changed,
    }
    return describe(diff), document
