"""What a change of DAG files does: from the DAGs before and after it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from flow.graph import DagSpec
from flow.graph.spec import TaskSpec
from flow.ops.planning.effect import Defined, Effect, effects
from flow.timetables import parse

NOW = datetime(2026, 10, 9, 12, tzinfo=UTC)
START = datetime(2026, 10, 1, tzinfo=UTC)


def defined(
    schedule: str | None = "@daily",
    *tasks: str,
    file: str = "sales.py",
    code: str = "a",
    **fields: object,
) -> Defined:
    spec = DagSpec(
        dag_id="sales",
        tasks=tuple(TaskSpec(task_id=task_id, operator="EmptyOperator") for task_id in tasks),
        timetable=parse(schedule, timezone="UTC"),
        **{"start_date": START, **fields},  # type: ignore[arg-type]
    )
    return Defined(spec, file, code)


def effect(before: Defined | None, after: Defined | None) -> Effect | None:
    old, new = ({} if one is None else {"sales": one} for one in (before, after))
    return next(effects(old, new, NOW), None)


def days(found: list) -> list[int]:  # type: ignore[type-arg]
    return [run.data_interval_start.day for run in found]


def test_what_is_the_same_has_no_effect() -> None:
    assert effect(defined(), defined()) is None


def test_a_new_dag_says_how_much_is_due() -> None:
    for catchup, due in ((True, 8), (False, 1), ("none", 0)):
        found = effect(None, defined(catchup=catchup))
        assert found is not None
        assert (found.change, found.due) == ("added", due)
        assert found.next_before == []


def test_a_dag_that_is_gone_had_runs_to_come() -> None:
    found = effect(defined(), None)
    assert found is not None
    assert (found.change, days(found.next_before), found.next_after) == ("removed", [9, 10, 11], [])


def test_another_schedule_goes_on_where_the_old_one_stands() -> None:
    found = effect(defined("@daily"), defined("0 6 * * *"))
    assert found is not None
    assert found.differences is not None
    assert [change.field for change in found.differences.fields] == ["schedule"]
    assert days(found.next_before) == [9, 10, 11]
    first = found.next_after[0]
    assert first.data_interval_start == datetime(2026, 10, 9, 6, tzinfo=UTC)
    assert first.run_at - first.data_interval_start == timedelta(days=1)


def test_tasks_change_nothing_of_the_schedule() -> None:
    found = effect(defined("@daily", "a", "b"), defined("@daily", "a", "c"))
    assert found is not None
    assert found.differences is not None
    assert (found.differences.tasks_added, found.differences.tasks_removed) == (["c"], ["b"])
    assert found.next_before == found.next_after != []


def test_code_and_place_count_where_the_graph_is_the_same() -> None:
    code = effect(defined(code="a"), defined(code="b"))
    moved = effect(defined(file="a.py"), defined(file="b.py", code="b"))
    assert code is not None
    assert moved is not None
    assert (code.change, moved.change, moved.file) == ("code", "moved", "b.py")
    assert code.differences is moved.differences is None
