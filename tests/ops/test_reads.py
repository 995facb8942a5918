"""Reading: references, pages, every task of a run, and plans that lean on indexes."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from psycopg.pq import TransactionStatus

from flow.errors import Conflict, NotFound, UsageError
from flow.graph import GroupSpec, TaskSpec
from flow.graph.imported import ImportFailure
from flow.ops import (
    cancelling,
    clearing,
    dag_warnings,
    dags,
    grid,
    paging,
    pausing,
    pools,
    references,
    running,
    runs,
    status,
    tasks,
    xcoms,
)
from flow.ops.next_runs import next_runs
from flow.ops.run_ranges import Which
from flow.ops.running import Wish
from flow.process import plain_file
from flow.states import TaskState
from flow.store import dag_files, processes
from flow.store.connect import transaction
from flow.store.dag_files import ParsedFile
from flow.store.read import page
from flow.store.read import runs as stored
from flow.store.read.runs import Filter
from operations_world import World


def run(world: World, dag_id: str = "sales", **wish: Any) -> str:
    return running.run(world.deployment, Wish(dag_id, **wish)).found.run.run_id


# ── references ───────────────────────────────────────────────────────────────────────────────────


def test_latest_is_the_greatest_interval_start_and_ad_hoc_runs_count_by_creation(
    world: World,
) -> None:
    world.define("sales", schedule="@daily")
    new = run(world, date="2026-07-09")
    run(world, date="2026-07-08")
    assert references.find_run(world.conn, "sales", "latest").run.run_id == new
    ad_hoc = run(world)
    assert references.find_run(world.conn, "sales", "latest").run.run_id == ad_hoc


def test_a_date_means_the_run_of_that_interval(world: World) -> None:
    world.define("sales", schedule="0 6 * * *", timezone="Europe/Zurich")
    run_id = run(world, date="2026-07-09T06:00")
    for reference in ("2026-07-09T06:00", "2026-07-09", "2026-07-09T04:00Z", run_id):
        assert references.find_run(world.conn, "sales", reference).run.run_id == run_id
    with pytest.raises(NotFound, match="no run for the interval that starts at 2026-07-10"):
        references.find_run(world.conn, "sales", "2026-07-10")


def test_a_day_with_several_runs_is_ambiguous(world: World) -> None:
    world.define("sales", schedule="@hourly")
    for hour in (3, 4):
        run(world, date=f"2026-07-09T0{hour}:00")
    run(world, date="2026-07-10T00:00")
    with pytest.raises(UsageError) as caught:
        references.find_run(world.conn, "sales", "2026-07-09")
    assert caught.value.message == "2 runs of DAG 'sales' start on 2026-07-09"
    assert caught.value.hint == "name one by its time, such as 2026-07-09T03:00+00:00"


def test_what_is_not_there_is_named_with_what_is_near(world: World) -> None:
    world.define("sales")
    with pytest.raises(NotFound, match="DAG 'sales' has no run yet"):
        references.find_run(world.conn, "sales", "latest")
    run(world, run_id="rerun_of_may")
    with pytest.raises(NotFound) as caught:
        references.find_run(world.conn, "sales", "rerun_of_mai")
    assert caught.value.hint == "did you mean rerun_of_may?"
    with pytest.raises(NotFound) as caught:
        references.find_run(world.conn, "sales", "load")
    assert caught.value.hint.startswith("it has a task 'load'; name a run as well")


@pytest.mark.parametrize("text", ["DAG('sales')\n", 'x = "sales"\n', "@dag\ndef sales():\n"])
def test_a_dag_whose_file_is_broken_is_named_with_its_error(
    world: World, tmp_path: Path, text: str
) -> None:
    world.define("sale")  # an id that is near is no help when the file is there
    other, shop = tmp_path / "other.py", tmp_path / "shop.py"
    broken(world, other, "sales\n")
    broken(world, shop, text)
    assert missing_dag(world, "sales") == (
        f"{shop} cannot be imported: NameError: name 'x' is not defined;"
        f" see `flow dags errors {shop}`"
    )
    assert missing_dag(world, "other").startswith(f"{other} cannot be imported")
    assert missing_dag(world, "sal") == "did you mean sale?"


def missing_dag(world: World, dag_id: str) -> str:
    """What somebody is told who names a DAG that is not there."""
    with pytest.raises(NotFound) as caught, world.deployment.snapshot():
        references.find_dag(world.conn, dag_id)
    return caught.value.hint


def test_a_broken_file_is_read_when_the_transaction_is_over(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(world, tmp_path / "shop.py", "DAG('sales')\n")
    at_reading: list[TransactionStatus] = []
    opener = plain_file.opener

    def opened(path: str, flags: int) -> int:
        at_reading.append(world.conn.info.transaction_status)
        return opener(path, flags)

    monkeypatch.setattr(plain_file, "opener", opened)
    with pytest.raises(NotFound, match="there is no DAG 'sales'"):
        pausing.pause(world.deployment, ["sales"])
    assert at_reading == [TransactionStatus.IDLE]


def test_a_pipe_in_the_place_of_a_broken_file_is_passed_over(world: World, tmp_path: Path) -> None:
    broken(world, tmp_path / "shop.py", "")
    (tmp_path / "shop.py").unlink()
    os.mkfifo(tmp_path / "shop.py")
    assert missing_dag(world, "sales") == "`flow dags list` shows all DAGs"


def test_a_file_with_a_failing_timetable_is_not_said_to_be_broken(
    world: World, tmp_path: Path
) -> None:
    shop = tmp_path / "shop.py"
    shop.write_text("DAG('sales')\n")
    world.define("stock")
    with transaction(world.conn, "test"):
        world.conn.execute("update dag set file = %s", [str(shop)])
        world.conn.execute(
            "insert into dag_evaluation (dag_id, refresh_at, low, dry, error, error_since) "
            "values ('stock', now(), 1, false, 'no', now())"
        )
    assert [one.file for one in dags.errors(world.deployment, None).rows] == [str(shop)]
    assert missing_dag(world, "sales") == "`flow dags list` shows all DAGs"
    assert missing_dag(world, "shop") == "`flow dags list` shows all DAGs"


def broken(world: World, path: Path, text: str) -> None:
    """Write a file, and say that it could not be imported."""
    path.write_text(text)
    with transaction(world.conn, "test"):
        failure = ImportFailure("NameError: name 'x' is not defined", 7)
        dag_files.put(world.conn, ParsedFile(str(path), "c1"), failure)


# ── tasks ────────────────────────────────────────────────────────────────────────────────────────


def test_every_task_of_the_runs_version_is_listed_upstream_first(world: World) -> None:
    world.define("sales", {"z_first": (), "middle": ("z_first",), "a_last": ("middle",)})
    run(world)
    world.schedule()
    world.define("sales", {"new": ()})  # another version; the run keeps its own
    found = tasks.list_(world.deployment, "sales", "latest")
    assert [(task.task_id, task.state) for task in found.tasks] == [
        ("z_first", "queued"),
        ("middle", "none"),
        ("a_last", "none"),
    ]
    assert {task.operator for task in found.tasks} == {"BashOperator"}


def test_a_running_task_names_its_worker_and_a_finished_one_its_try(world: World) -> None:
    world.define("sales", {"load": ()})
    run(world)
    world.schedule()
    claimed = world.claim()["load"]
    (task,) = tasks.list_(world.deployment, "sales", "latest").tasks
    address = world.value("select host || ':' || pid from process")
    assert (task.state, task.worker, task.try_number) == ("running", address, 1)
    world.end(claimed, value='"ok"')
    world.schedule()
    (made,) = tasks.tries(world.deployment, "sales", "latest", "load").tries
    assert (made.state, made.worker, made.pid, made.exit_code) == ("success", address, 4242, 0)
    assert (made.peak_rss_bytes, made.cpu_s, made.log) == (1_000_000, 0.5, "/logs/load")
    (xcom,) = xcoms.page(world.deployment, "sales", "latest").page.rows
    assert (xcom.task_id, xcom.key, xcom.value) == ("load", "return_value", '"ok"')
    with pytest.raises(NotFound) as caught:
        xcoms.get(world.deployment, "sales", "latest", "load", "rows")
    assert caught.value.hint == "it has: return_value"


def test_an_unknown_task_is_named_with_what_is_near(world: World) -> None:
    world.define("sales")
    run(world)
    with pytest.raises(NotFound) as caught:
        tasks.tries(world.deployment, "sales", "latest", "extrct")
    assert caught.value.message == "DAG 'sales' has no task 'extrct' in version 1"
    assert caught.value.hint == "did you mean extract?"


def test_the_grid_has_a_line_for_each_task_and_a_column_for_each_run(world: World) -> None:
    world.define("sales", {"a": (), "b": ("a",)})
    run(world, date="2026-07-08")
    world.finish({"a": TaskState.FAILED})
    world.define("sales", {"a": (), "b": ("a",), "c": ("b",)})
    run(world, date="2026-07-09")
    world.schedule()
    found = grid.show(world.deployment, "sales", 10)
    assert [one.state for one in found.runs] == ["failed", "running"]
    assert [(line.task_id, line.states) for line in found.tasks] == [
        ("a", ["failed", "queued"]),
        ("b", ["upstream_failed", "none"]),
        ("c", [None, "none"]),
    ]
    assert len(grid.show(world.deployment, "sales", 1).runs) == 1


def test_the_grid_shows_tasks_that_only_older_versions_have_within_their_groups(
    world: World,
) -> None:
    def task(task_id: str) -> TaskSpec:
        group, dot, _ = task_id.partition(".")
        return TaskSpec(task_id=task_id, operator="X", group=group if dot else None)

    def define(*task_ids: str) -> None:
        specs = [task(task_id) for task_id in task_ids]
        world.define("sales", specs, groups=(GroupSpec(group_id="load"),))

    for day, task_ids in (
        (7, ("a", "ancient", "load.ch")),
        (8, ("a", "gone", "load.ch", "load.old", "z")),
        (9, ("a", "load.ch", "z")),
    ):
        define(*task_ids)
        run(world, date=f"2026-07-0{day}")
        world.finish()
    found = grid.show(world.deployment, "sales", 2)
    assert [(line.task_id, line.old, line.states) for line in found.tasks] == [
        ("a", False, ["success", "success"]),
        ("load.ch", False, ["success", "success"]),
        ("load.old", True, ["success", None]),
        ("z", False, ["success", "success"]),
        ("gone", True, ["success", None]),
    ]


def test_an_empty_condition_is_no_condition_for_every_run(world: World) -> None:
    world.define("sales", paused=True)
    run(world)
    for act in (
        lambda: cancelling.cancel(world.deployment, "sales", Which(where="")),
        lambda: clearing.clear(world.deployment, clearing.Wish("sales", Which(where=" "))),
    ):
        with pytest.raises(UsageError, match="a field is missing"):
            act()


# ── lists ────────────────────────────────────────────────────────────────────────────────────────


def test_dags_are_filtered(world: World) -> None:
    world.define("one", tags=("x", "y"))
    world.define("two", file="/dags/two.py", paused=True)
    run(world, "one")
    world.finish({"load": TaskState.FAILED})

    def listed(**filters: Any) -> list[str]:
        return [dag.dag_id for dag in dags.page(world.deployment, dags.Filter(**filters), 100).rows]

    assert listed() == ["one", "two"]
    assert listed(paused=True) == ["two"]
    assert listed(tags=["y", "z"]) == ["one"]
    assert listed(failed=True) == ["one"]
    assert listed(owner="nobody") == []
    first = dags.page(world.deployment, limit=1)
    assert (len(first.rows), first.total) == (1, (2, True))


def test_runs_are_filtered_newest_first(world: World) -> None:
    world.define("sales", schedule="@daily", timezone="Europe/Zurich", paused=True)
    for day in (7, 8, 9):
        run(world, date=f"2026-07-0{day}")

    def listed(**filters: Any) -> list[str]:
        page_ = runs.page(world.deployment, runs.Asked("sales", **filters), 100)
        return [one.data_interval_start.astimezone(UTC).isoformat()[:10] for one in page_.rows]

    assert listed() == ["2026-07-08", "2026-07-07", "2026-07-06"]  # midnight in Zurich
    assert listed(start="2026-07-08", end="2026-07-08") == ["2026-07-07"]
    assert listed(end="2026-07-08T00:00") == ["2026-07-07", "2026-07-06"]
    assert listed(state="failed") == []
    assert len(listed(state="queued", run_type="manual")) == 3


def test_a_list_takes_a_condition_on_its_fields(world: World) -> None:
    for dag_id in ("sales_eu", "sales_us", "stock"):
        world.define(dag_id, schedule="@daily")
        run(world, dag_id, date="2026-07-08")
        run(world, dag_id, run_id="mine")
    cancelling.cancel(world.deployment, "sales_eu", Which("mine"))

    def found(where: str, limit: int | None = None, **more: Any) -> list[tuple[str, str]]:
        asked = runs.Asked(where=where, **more)
        listed = runs.page(world.deployment, asked, limit).rows
        if limit is None:
            assert listed == list(runs.every(world.deployment, asked))
        return [(one.dag_id, one.state) for one in listed]

    assert found("dag~sales_* and run=mine") == [("sales_us", "queued"), ("sales_eu", "failed")]
    assert found("state=failed") == [("sales_eu", "failed")]
    assert found("state=failed", state="queued") == []
    assert found("state=failed and dag=stock or run=mine", dag_id="stock") == [("stock", "queued")]
    assert found("not state=failed and state!=queued") == []
    page_ = runs.page(world.deployment, runs.Asked(where="state=queued"), 2)
    assert ([one.dag_id for one in page_.rows], page_.total) == (["stock", "stock"], (2, False))
    assert runs.page(world.deployment, runs.Asked(where="state=queued"), 5).total == (5, True)
    with pytest.raises(UsageError, match="no field 'stat'"):
        found("stat=failed")


def test_all_rows_are_read_a_page_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "PAGE", 2)
    for dag_id in ("one", "two", "three", "four"):
        world.define(dag_id, schedule="@daily", paused=dag_id == "two", file=f"/dags/{dag_id}.py")
    for day in (9, 7, 8):
        run(world, "four", date=f"2026-07-0{day}")
        run(world, "one", date=f"2026-07-0{day}")
    for wanted in (dags.ALL, dags.Filter(paused=False), dags.Filter(owner="nobody")):
        assert list(dags.every(world.deployment, wanted)) == (
            dags.page(world.deployment, wanted).rows
        )
    for asked in (runs.ALL, runs.Asked("one"), runs.Asked(start="2026-07-08", state="queued")):
        rows = runs.page(world.deployment, asked).rows
        assert len(rows) > 2
        assert list(runs.every(world.deployment, asked)) == rows
    with pytest.raises(NotFound):
        list(runs.every(world.deployment, runs.Asked("nope")))


def test_a_long_list_is_counted_only_so_far(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.define("sales", paused=True)
    for _ in range(4):
        run(world)
    for module in (page, stored):
        monkeypatch.setattr(module, "COUNTED", 2)
    found = runs.page(world.deployment, limit=1)
    assert (len(found.rows), found.total) == (1, (2, False))


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (Filter(dag_id="sales"), "run_by_date"),
        (Filter(dag_id="sales", state="success"), "run_by_date"),
        (Filter(), "run_pkey"),
        (Filter(state="failed"), "run_failed"),
        (Filter(state="running"), "run_unfinished"),
        (Filter(run_type="manual"), "run_by_type"),
        (Filter(run_type="backfill"), "run_by_type"),
        (Filter(start=datetime(2100, 1, 1, tzinfo=UTC)), "run_by_interval"),
    ],
)
def test_a_page_of_runs_leans_on_an_index(
    world: World, monkeypatch: pytest.MonkeyPatch, wanted: Filter, index: str
) -> None:
    world.define("sales", paused=True)
    world.define("other", paused=True, file="/dags/other.py")
    world.conn.execute(
        """insert into run (dag_id, run_id, run_type, state, version, logical_date,
             data_interval_start, data_interval_end, interval_run, started_at, ended_at)
           select case when n % 20 = 0 then 'sales' else 'other' end, 'r' || n,
             case when n % 997 = 0 then 'manual' else 'scheduled' end,
             case when n % 499 = 0 then 'failed' else 'success' end, 1, at, at, at, false, at, at
           from generate_series(1, 20000) as n,
             lateral (select now() - n * interval '1 minute' as at) as t"""
    )
    world.conn.execute("analyze run")
    plans: list[str] = []
    execute = type(world.conn).execute

    def explain(conn: Any, statement: Any, values: Any = None, **rest: Any) -> Any:
        if "from run r" in str(statement):
            lines = execute(conn, f"explain {statement}", values, **rest).fetchall()
            plans.append("\n".join(line[0] for line in lines))
        return execute(conn, statement, values, **rest)

    monkeypatch.setattr(type(world.conn), "execute", explain)
    stored.page(world.conn, wanted, 100)
    assert "Seq Scan" not in plans[0]
    assert index in plans[0]


def test_import_errors_and_their_dags(world: World) -> None:
    world.define("sales")
    with transaction(world.conn, "test"):
        failure = ImportFailure("NameError: name 'x' is not defined", 7, "Traceback …\n  line 7")
        dag_files.put(world.conn, ParsedFile("/dags/one.py", "c1"), failure)
    (error,) = dags.errors(world.deployment).rows
    assert (error.file, error.line, error.dags) == ("/dags/one.py", 7, ["sales"])
    assert dags.page(world.deployment).rows[0].has_import_error
    report = dags.file_report(world.deployment, Path("one.py"))
    assert report.traceback == "Traceback …\n  line 7"
    with pytest.raises(NotFound, match=r"no DAG file two\.py has been parsed"):
        dags.file_report(world.deployment, Path("two.py"))
    assert dags.show(world.deployment, "sales").error == failure.error


def test_warnings_name_the_module_that_makes_an_import_slow(world: World) -> None:
    slow = [("helper", 1.9, ""), ("pandas", 1.8, "helper"), ("numpy", 0.4, "pandas.core")]
    with transaction(world.conn, "test"):
        for path, seconds, imports in (
            ("/dags/one.py", 2.0, slow),
            ("/dags/own.py", 3.0, slow[2:]),
            ("/dags/two.py", 0.2, []),
        ):
            file = ParsedFile(path, "c1", seconds=seconds, imports=imports, warnings=["two.py:1"])
            dag_files.put(world.conn, file, None)
    found = [(one.file, one.warning) for one in dag_warnings.page(world.deployment).rows]
    assert found == [
        (
            "/dags/one.py",
            "the import took 2.0 s, of which pandas took 1.8 s by way of helper: "
            "import it in the tasks that need it",
        ),
        ("/dags/one.py", "two.py:1"),
        (
            "/dags/own.py",
            "the import took 3.0 s, most of it in the file's own code: move that into tasks",
        ),
        ("/dags/own.py", "two.py:1"),
        ("/dags/two.py", "two.py:1"),
    ]
    first = dag_warnings.page(world.deployment, limit=2)
    assert ([one.file for one in first.rows], first.total.counted) == (["/dags/one.py"] * 2, 5)
    (only,) = dag_warnings.page(world.deployment, Path("one.py"), slow=5.0).rows
    assert only.warning == "two.py:1"


def test_what_processors_cannot_do_with_their_folders_is_told(world: World) -> None:
    """By `flow status`, the first ones, and by `flow dags warnings`, all of them."""
    told = {f"/dags/{n}/.flowignore": "it ignores nothing: Permission denied" for n in range(5)}
    for _ in range(2):  # two processors of one host
        with transaction(world.conn, "test"):
            mine = processes.register(
                world.conn, role="parse", host="here", pid=1, version="test", lost_after=300.0
            )
            processes.warn(world.conn, mine, told)
    shown = status.show(world.deployment).warnings
    assert shown[0] == "/dags/0/.flowignore on here: it ignores nothing: Permission denied"
    assert shown[3:] == ["2 more like this; see `flow dags warnings`"]
    page = dag_warnings.page(world.deployment, limit=2)
    assert (len(page.rows), page.total.counted) == (2, 5)
    assert page.rows[0] == (
        "/dags/0/.flowignore", None, None, "on here: it ignores nothing: Permission denied"
    )  # fmt: skip
    world.rows("update process set ended_at = now(), ended_reason = 'stopped' returning 1")
    assert status.show(world.deployment).warnings == []
    assert dag_warnings.page(world.deployment).rows == []


def test_versions_of_a_dag(world: World) -> None:
    world.define("sales")
    page = dags.versions(world.deployment, "sales", limit=1)
    assert [one.number for one in page.rows] == [1]
    assert page.total.counted == 1
    with pytest.raises(NotFound):
        dags.versions(world.deployment, "nope")


def test_a_dag_page_names_the_next_runs(world: World) -> None:
    world.define("sales", schedule="@daily", start_date=datetime(2100, 1, 1, tzinfo=UTC))
    details = dags.show(world.deployment, "sales")
    assert [run.data_interval_start.day for run in details.next_runs] == [1, 2, 3, 4, 5]
    assert [version.number for version in details.versions] == [1]


def test_the_next_runs_go_on_from_where_the_schedule_stands(world: World) -> None:
    world.define("sales", schedule="@daily", start_date=datetime(2100, 1, 1, tzinfo=UTC))
    found = next_runs(world.deployment, "sales", 3)
    assert found.schedule == "every day at 00:00 UTC"
    assert [run.data_interval_start.day for run in found.runs] == [1, 2, 3]


def test_the_next_runs_from_a_date_are_all_of_the_schedule_and_in_its_zone(world: World) -> None:
    world.define(
        "gap",
        schedule="30 2 * * *",
        timezone="America/Chicago",
        start_date=datetime(2024, 3, 8, 6, tzinfo=UTC),
        end_date=datetime(2024, 3, 13, 6, tzinfo=UTC),
    )
    found = next_runs(world.deployment, "gap", 100, "2024-03-01").runs
    assert [run.data_interval_start.isoformat() for run in found] == [
        "2024-03-08T02:30:00-06:00",
        "2024-03-09T02:30:00-06:00",
        "2024-03-10T03:30:00-05:00",
        "2024-03-11T02:30:00-05:00",
        "2024-03-12T02:30:00-05:00",
    ]
    assert [run.run_at for run in found] == [run.data_interval_end for run in found]
    assert len(next_runs(world.deployment, "gap", 2, "2024-03-10T03:30").runs) == 2
    assert next_runs(world.deployment, "gap", 2, "2024-03-14").runs == []


# ── pools and status ─────────────────────────────────────────────────────────────────────────────


def test_a_pool_counts_slots_and_wakes_who_waits(world: World) -> None:
    pools.set_(world.deployment, "small", 2)
    specs = [TaskSpec(task_id=n, operator="X", pool="small", pool_slots=2) for n in ("a", "b")]
    world.define("sales", specs)
    run(world)
    world.schedule()
    world.claim()
    found = {pool.name: pool for pool in pools.page(world.deployment).rows}["small"]
    assert (found.running, found.queued, found.scheduled, found.open) == (2, 0, 2, 0)
    changed = pools.set_(world.deployment, "small", 4, description="for two")
    assert (changed.open, changed.description) == (2, "for two")
    world.schedule()
    assert sorted(row[0] for row in world.rows("select state from task_hot")) == [
        "queued",
        "running",
    ]


def test_a_pool_in_use_is_not_deleted(world: World) -> None:
    pools.set_(world.deployment, "small", 1)
    world.define("sales", [TaskSpec(task_id="a", operator="X", pool="small")])
    run(world)
    world.schedule()
    with pytest.raises(Conflict, match="pool 'small' is in use: 1 slots"):
        pools.delete(world.deployment, "small")
    world.finish()
    pools.delete(world.deployment, "small")
    with pytest.raises(NotFound, match="there is no pool 'small'"):
        pools.delete(world.deployment, "small")
    with pytest.raises(UsageError, match="default_pool cannot be deleted"):
        pools.delete(world.deployment, "default_pool")


def test_status_says_what_is_wrong(world: World) -> None:
    world.rows("insert into wakeup (kind, name, due_at) values"
               " ('dag', 'x', now() - interval '2 minutes') returning 1")  # fmt: skip
    found = status.show(world.deployment)
    assert [role.role for role in found.roles] == ["work"]
    assert found.roles[0].healthy
    assert found.database.migrated
    assert found.problems[:2] == [
        "no DAG processor is alive: changes of DAG files are not seen",
        "no scheduler is alive: nothing is started",
    ]
    assert "1 wake-ups are due, the oldest for 12" in found.problems[2]
    world.rows("update process set heartbeat_at = now() - interval '1 minute' returning 1")
    found = status.show(world.deployment)
    assert not found.roles[0].healthy
    assert "no worker is alive: nothing runs" in found.problems


def test_status_names_a_queue_that_nobody_serves(world: World) -> None:
    world.define("sales", [TaskSpec(task_id="a", operator="X", queue="gpu")])
    run(world)
    world.schedule()
    problems = status.show(world.deployment).problems
    assert "tasks wait for queue gpu (executor local), which no live worker serves" in problems


def test_status_names_a_pool_that_tasks_wait_for_in_vain(world: World) -> None:
    for pool, slots in (("small", 1), ("closed", 0), ("full", 1)):
        pools.set_(world.deployment, pool, slots)
    needs = (("lost", 1), ("small", 2), ("closed", 1), ("full", 1))
    world.define(
        "sales",
        [TaskSpec(task_id=n, operator="X", pool=n, pool_slots=slots) for n, slots in needs]
        + [TaskSpec(task_id="more", operator="X", pool="full")],
    )
    run(world)
    world.schedule()
    found = status.show(world.deployment)
    assert [one for one in found.problems if "pool" in one] == [
        "tasks wait for pool lost, which does not exist; make it: flow pools set lost N",
        "a task needs 2 slots of pool small, which has 1; make it larger: flow pools set small 2",
    ]
    assert found.warnings == [
        "tasks wait for pool closed, which has 0 slots; open it: flow pools set closed N"
    ]


def test_status_warns_of_files_that_cannot_be_imported(world: World) -> None:
    before = status.show(world.deployment)
    with transaction(world.conn, "test"):
        dag_files.put(world.conn, ParsedFile("/dags/one.py", "c1"), ImportFailure("NameError: x"))
    found = status.show(world.deployment)
    assert (found.problems, before.warnings) == (before.problems, [])
    assert found.warnings == ["DAG files that cannot be imported: 1; see `flow dags errors`"]
