"""What `flow dags diff` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flow.wording.differences import MARGIN, differences, short_hash
from flow_cli.records import plain

if TYPE_CHECKING:
    from flow.ops.dag_diff import DagDiff


def describe_diff(diff: DagDiff) -> tuple[list[str], dict[str, Any]]:
    """A comparison as lines for people, and as the JSON object that says the same."""
    found = diff.differences
    lines = [f"{diff.dag_id}: version {diff.before.number} -> {diff.after.number}"]
    lines += [MARGIN + line for line in differences(found)]
    if diff.code_changed:
        was, now = (short_hash(one.code_hash) for one in (diff.before, diff.after))
        lines.append(f"  code: {was} -> {now}")
    document = {
        "dag_id": diff.dag_id,
        "before": diff.before.number,
        "after": diff.after.number,
        **{name: plain(value) for name, value in found._asdict().items()},
        "code_changed": diff.code_changed,
    }
    return lines, document
