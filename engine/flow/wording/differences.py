"""What differs between two versions of a DAG, or between any two values, in words."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from flow.wording.cells import width_of

if TYPE_CHECKING:
    from flow.ops.dag_diff import DagDiff, Differences, FieldChange, TaskChanges

MARGIN: Final = "  "
_SHOWN_OF_HASH: Final = 12
"""Characters that tell versions apart for people."""
_WIDEST: Final = 76
"""Columns that a change may take on one line; every terminal has some more."""


def short_hash(whole: str) -> str:
    """The beginning of a hash, for people."""
    return whole[:_SHOWN_OF_HASH]


def describe(diff: DagDiff) -> list[str]:
    """What makes one version of a DAG another one, as lines for people."""
    lines = [f"{diff.dag_id}: version {diff.before.number} -> {diff.after.number}"]
    lines += [MARGIN + line for line in differences(diff.differences)]
    if diff.code_changed:
        was, now = (short_hash(one.code_hash) for one in (diff.before, diff.after))
        lines.append(f"{MARGIN}code: {was} -> {now}")
    return lines


def differences(found: Differences) -> Iterator[str]:
    """What differs between two graphs, as lines for people."""
    for field in found.fields:
        yield from change(field)
    yield from (f"+ {task_id}" for task_id in found.tasks_added)
    yield from (f"- {task_id}" for task_id in found.tasks_removed)
    for task in found.tasks_changed:
        yield from _task(task)
    yield from (f"+ {upstream} >> {task_id}" for upstream, task_id in found.edges_added)
    yield from (f"- {upstream} >> {task_id}" for upstream, task_id in found.edges_removed)
    if not found.any:
        yield "the graph is the same"


def change(field: FieldChange) -> Iterator[str]:
    """A field with both values: side by side, below each other, or only the lines that differ."""
    before, after = _value(field.before), _value(field.after)
    together = f"{field.field} {before} -> {after}"
    if "\n" not in together and width_of(together) <= _WIDEST:
        yield together
        return
    yield field.field
    if "\n" in together:
        for line in difflib.ndiff(before.splitlines(), after.splitlines()):
            if line[:1] in "+-":
                yield MARGIN + line.rstrip()
    else:
        yield f"{MARGIN}- {before}"
        yield f"{MARGIN}+ {after}"


def _task(task: TaskChanges) -> Iterator[str]:
    """On one line where there is room, else a line for each field."""
    changes = [list(change(field)) for field in task.fields]
    together = f"~ {task.task_id}: {', '.join(lines[0] for lines in changes)}"
    if all(len(lines) == 1 for lines in changes) and width_of(together) <= _WIDEST:
        yield together
        return
    yield f"~ {task.task_id}"
    yield from (f"{MARGIN}{line}" for lines in changes for line in lines)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
