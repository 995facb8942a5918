"""What differs between two specs."""

from __future__ import annotations

from flow.graph import DagSpec, GroupSpec, TaskSpec
from flow.graph.compare import FieldChange, TaskChanges, compare
from flow.timetables import parse


def task(task_id: str, *upstream: str, **fields) -> TaskSpec:
    return TaskSpec(task_id=task_id, operator="X", upstream=upstream, **fields)


BEFORE = DagSpec(
    dag_id="sales",
    tasks=(task("extract"), task("load", "extract"), task("report", "load")),
    timetable=parse("@daily", "UTC"),
)


def test_the_same_has_no_difference() -> None:
    same = DagSpec(dag_id="sales", tasks=BEFORE.tasks, timetable=parse("@daily", "UTC"))
    assert not compare(BEFORE, same).any


def test_every_kind_of_difference() -> None:
    after = DagSpec(
        dag_id="sales",
        tasks=(
            task("check", "extract", group="quality"),
            task("extract", retries=3, pool="wide"),
            task("report", "check"),
        ),
        groups=(GroupSpec(group_id="quality"),),
        timetable=parse("@hourly", "UTC"),
        max_active_runs=2,
        params={"a": 1},
    )
    found = compare(BEFORE, after)
    assert (found.tasks_added, found.tasks_removed) == (["check"], ["load"])
    assert found.tasks_changed == [
        TaskChanges(
            "extract", [FieldChange("retries", 0, 3), FieldChange("pool", "default_pool", "wide")]
        )
    ]
    assert found.edges_added == [("check", "report"), ("extract", "check")]
    assert found.edges_removed == [("extract", "load"), ("load", "report")]
    fields = {change.field: (change.before, change.after) for change in found.fields}
    assert fields.keys() == {"schedule", "groups", "max_active_runs", "params"}
    assert fields["groups"] == ([], ["quality"])
    assert fields["max_active_runs"] == (16, 2)
