"""How task instances are written."""

from __future__ import annotations

import pytest

from flow.errors import UsageError
from flow.ops.task_references import TaskReference, parse_task_reference


@pytest.mark.parametrize(
    ("text", "task_id", "map_index"),
    [
        ("load", "load", ()),
        ("group.load", "group.load", ()),
        ("load[3]", "load", (3,)),
        ("group.load[3][1]", "group.load", (3, 1)),
        ("数据[0]", "数据", (0,)),
    ],
)
def test_a_reference_is_read_and_written_alike(text, task_id, map_index):
    reference = parse_task_reference(text)
    assert reference == TaskReference(task_id, map_index)
    assert str(reference) == text


@pytest.mark.parametrize("text", ["", "[3]", "load[", "load[]", "load[x]", "load[-1]", "load[3]x"])
def test_what_is_no_reference_is_refused(text):
    with pytest.raises(UsageError, match="is not a task reference"):
        parse_task_reference(text)
