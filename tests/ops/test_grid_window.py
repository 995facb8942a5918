"""Windows of a grid: what they hold, what a later look reads again, and by which indexes."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from flow.errors import NotFound
from flow.ops import grid_window, marks, running
from flow.ops.grid_window import GridWindow, Seen, refresh, state_of
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.states import TaskState
from operations_world import World

DAYS = ["2026-07-06", "2026-07-07", "2026-07-08", "2026-07-09", "2026-07-10"]


def start(world: World, *days: str) -> None:
    for day in days:
        running.run(world.deployment, Wish("sales", date=day))


def days(window: GridWindow) -> list[str]:
    return [column.run.logical_date.date().isoformat() for column in window.columns]


def states(window: GridWindow) -> list[dict[str, TaskState | None]]:
    rows = window.rows
    return [
        {
            row.task_id: state_of(code)
            for row, code in zip(rows[column.graph], column.states, strict=True)
        }
        for column in window.columns
    ]


def seen(window: GridWindow, *, newest: bool = True) -> Seen:
    return Seen([column.run for column in window.columns], window.looked_at, newest)


@pytest.fixture
def week(world: World) -> World:
    """Five finished runs of three tasks."""
    world.define("sales")
    start(world, *DAYS)
    world.finish()
    return world


def test_windows_follow_each_other_both_ways(week: World) -> None:
    deployment = week.deployment
    last = grid_window.newest(deployment, "sales", 2)
    assert (days(last), last.more) == (DAYS[3:], True)
    before = grid_window.older(deployment, "sales", last.columns[0].run.place, 2, last.rows)
    assert (days(before), before.more, before.rows) == (DAYS[1:3], True, {})
    first = grid_window.older(deployment, "sales", before.columns[0].run.place, 2)
    assert (days(first), first.more) == (DAYS[:1], False)
    after = grid_window.newer(deployment, "sales", first.columns[-1].run.place, 3)
    assert (days(after), after.more) == (DAYS[1:4], True)
    end = grid_window.newer(deployment, "sales", after.columns[-1].run.place, 3)
    assert (days(end), end.more) == (DAYS[4:], False)
    assert states(end) == [dict.fromkeys(("extract", "load", "report"), "success")]


def test_a_dag_without_runs_has_rows_alone_and_one_that_is_not_there_is_named(world: World) -> None:
    world.define("sales", {"a": (), "b": ("a",)})
    window = grid_window.newest(world.deployment, "sales", 10)
    assert (window.columns, window.more) == ([], False)
    assert [row.task_id for row in window.rows[window.latest]] == ["a", "b"]
    with pytest.raises(NotFound):
        grid_window.newest(world.deployment, "purchases", 10)


def test_a_run_has_the_tasks_of_its_own_version(world: World) -> None:
    world.define("sales", {"a": (), "b": ("a",)})
    start(world, DAYS[0])
    world.finish({"a": TaskState.FAILED})
    start(world, DAYS[1])
    world.define("sales", {"a": (), "c": ("a",)})
    start(world, DAYS[2])
    window = grid_window.newest(world.deployment, "sales", 10)
    first, second, third = states(window)
    assert first == {"a": "failed", "b": "upstream_failed"}
    assert list(second) == ["a", "b"]
    assert (second["b"], third["c"], list(third)) == ("none", "none", ["a", "c"])
    assert window.columns[2].graph == window.latest != window.columns[1].graph


def test_a_look_at_nothing_new_reads_no_states(week: World) -> None:
    window = grid_window.newest(week.deployment, "sales", 3)
    changes = refresh(week.deployment, "sales", seen(window), window.rows)
    assert (changes.window.columns, changes.window.rows, changes.gone) == ([], {}, [])


def test_a_later_look_has_what_is_unfinished_new_in_between_or_gone(week: World) -> None:
    week.conn.execute("delete from run where logical_date::date = '2026-07-08'")
    start(week, "2026-07-11")
    window = grid_window.newest(week.deployment, "sales", 4)
    assert days(window) == [DAYS[1], DAYS[3], DAYS[4], "2026-07-11"]
    start(week, DAYS[2])
    week.conn.execute("delete from run where logical_date::date = '2026-07-07'")
    start(week, "2026-07-12")
    week.schedule()
    changes = refresh(week.deployment, "sales", seen(window), window.rows)
    assert days(changes.window) == [DAYS[2], "2026-07-11", "2026-07-12"]
    assert changes.gone == [window.columns[0].run.run_key]
    assert states(changes.window._replace(rows=window.rows))[1]["extract"] == "queued"
    within = refresh(week.deployment, "sales", seen(window, newest=False), window.rows)
    assert days(within.window) == [DAYS[2], "2026-07-11"]


def test_a_run_that_ended_in_between_comes_once_more(week: World) -> None:
    start(week, "2026-07-11")
    window = grid_window.newest(week.deployment, "sales", 2)
    week.finish()
    changes = refresh(week.deployment, "sales", seen(window), window.rows)
    (column,) = changes.window.columns
    assert (column.run.state, set(column.states)) == (
        "success",
        {grid_window.code_of(TaskState.SUCCESS)},
    )
    again = seen(changes.window)
    assert refresh(week.deployment, "sales", again, window.rows).window.columns == []


def test_a_task_marked_in_a_finished_run_is_seen(week: World) -> None:
    window = grid_window.newest(week.deployment, "sales", 3)
    run_id = window.columns[1].run.run_id
    marks.mark(week.deployment, "sales", Which(run_id), "extract", TaskState.SKIPPED)
    changes = refresh(week.deployment, "sales", seen(window), window.rows)
    assert days(changes.window) == [DAYS[3]]
    (found,) = states(changes.window._replace(rows=window.rows))
    assert found["extract"] == "skipped"


def test_new_runs_come_in_portions(week: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_window, "MOST_NEW", 2)
    window = grid_window.newest(week.deployment, "sales", 5)
    old = window._replace(columns=window.columns[:1])
    changes = refresh(week.deployment, "sales", seen(old), window.rows)
    assert (days(changes.window), changes.window.more) == (DAYS[1:3], True)
    old = window._replace(columns=window.columns[:3])
    changes = refresh(week.deployment, "sales", seen(old), window.rows)
    assert (days(changes.window), changes.window.more) == (DAYS[3:], False)


def test_of_a_mapped_task_the_loudest_instance_counts_and_all_are_told(week: World) -> None:
    window = grid_window.newest(week.deployment, "sales", 2)
    run_key = window.columns[1].run.run_key
    week.conn.execute("delete from task_history where run_key = %s and task_id = 'load'", [run_key])
    week.conn.execute(
        """insert into task_history (run_key, task_id, map_path, dag_id, state, pool, queue,
             executor, priority, ended_at)
           select %s, 'load', array[n], 'sales',
             case when n = 7 then 'failed' when n > 7 then 'skipped' else 'success' end,
             'default_pool', 'default', 'local', 1, now() from generate_series(0, 9) as n""",
        [run_key],
    )
    window = grid_window.newest(week.deployment, "sales", 2)
    assert states(window)[1]["load"] == "failed"
    assert [column.mapped for column in window.columns] == [
        {},
        {"load": {"success": 7, "failed": 1, "skipped": 2}},
    ]
    keys = [column.run.run_key for column in window.columns]
    (found,) = grid_window.instances(week.deployment, keys, "load")
    assert (found.run_key, found.total, len(found.states)) == (run_key, 10, 10)
    assert {state_of(found.states[(n,)]) for n in (7, 8)} == {"failed", "skipped"}


# ── what it costs ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def filled(world: World) -> World:
    """Runs of 90 tasks: 200 of a DAG among 800 of others, a tenth of them unfinished."""
    tasks = {f"task_{n:02}": () for n in range(90)}
    world.define("sales", tasks, paused=True)
    world.define("other", tasks, paused=True, file="/dags/other.py")
    world.conn.execute(
        """insert into run (dag_id, run_id, run_type, state, version, logical_date,
             data_interval_start, data_interval_end, interval_run, started_at, ended_at)
           select case when n % 5 = 0 then 'sales' else 'other' end, 'r' || n, 'scheduled',
             case when n % 10 = 0 then 'running' else 'success' end, 1, at, at, at, false, at,
             case when n % 10 <> 0 then at end
           from generate_series(1, 1000) as n,
             lateral (select now() - n * interval '1 minute' as at) as t"""
    )
    for table, finished in (("task_hot", False), ("task_history", True)):
        world.conn.execute(
            f"""insert into {table} (run_key, task_id, dag_id, state, pool, queue, executor,
                  priority, ended_at)
                select r.run_key, 'task_' || lpad(n::text, 2, '0'), r.dag_id, 'success',
                  'default_pool', 'default', 'local', 1, now()
                from run r, generate_series(0, 89) as n
                where (r.ended_at is not null) = {finished}"""
        )
    world.conn.execute(
        """insert into audit (at, os_user, host, verb, target)
           select now() - n * interval '1 minute', 'ada', 'h', 'run', 'other/r' || n
           from generate_series(1, 5000) as n"""
    )
    world.conn.execute("vacuum analyze")
    return world


def test_every_statement_of_a_look_leans_on_indexes(
    filled: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = filled.deployment
    plans: dict[str, str] = {}
    execute = type(filled.conn).execute

    def explain(conn: Any, statement: Any, values: Any = None, **rest: Any) -> Any:
        if isinstance(statement, str) and statement.lstrip().startswith("select"):
            lines = execute(conn, f"explain {statement}", values, **rest).fetchall()
            plans[statement] = "\n".join(line[0] for line in lines)
        return execute(conn, statement, values, **rest)

    with monkeypatch.context() as patched:
        patched.setattr(type(filled.conn), "execute", explain)
        window = grid_window.newest(deployment, "sales", 50)
        place = window.columns[0].run.place
        grid_window.older(deployment, "sales", place, 50, window.rows)
        grid_window.newer(deployment, "sales", place, 20, window.rows)
        changes = refresh(deployment, "sales", seen(window), window.rows)
        keys = [column.run.run_key for column in window.columns]
        grid_window.instances(deployment, keys, "task_07")
    assert len(window.columns) == 50
    assert {column.run.state for column in changes.window.columns} == {"running"}
    big = {
        name
        for (name,) in filled.rows(
            "select relname::text from pg_class"
            " where relpages > 0 and relname ~ '^(run|task|audit)' and relkind = 'r'"
        )
    }
    assert len(big) == 4
    assert {
        table for table in big if any(f" on {table} " in plan for plan in plans.values())
    } == big
    assert not big & set(re.findall(r"Seq Scan on (\w+)", "\n".join(plans.values())))


def test_a_column_takes_a_byte_for_each_task(filled: World) -> None:
    window = grid_window.newest(filled.deployment, "sales", 200)
    assert {len(column.states) for column in window.columns} == {90}
    assert sum(sys.getsizeof(column.states) for column in window.columns) < 200 * (90 + 40)
    assert len({id(column.graph) for column in window.columns}) == 1
