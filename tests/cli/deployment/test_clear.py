"""`flow clear`: what it shows, asks, does and says."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from flow.graph import TaskSpec
from flow.ops import running
from flow.ops.running import Wish
from flow.states import TaskState
from operations_world import World
from waiting import limit, wait_until

RUN = "manual__2026-07-08T00:00:00+00:00"
PLAN = f"""\
{RUN}: failed -> queued, version 1
  load.ch: failed -> none
  report: upstream_failed -> none
"""


def test_it_asks_and_refuses_without_a_terminal(sales, flow):
    clear = ("clear", "sales", "2026-07-08", "--only-failed")
    refused = flow(*clear)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == PLAN + (
        "this needs an answer, and there is no terminal to ask on\n"
        "Add --yes to do it, or --dry-run to see what it would touch.\n"
    )
    planned = flow(*clear, "--dry-run")
    assert (planned.code, planned.out, planned.err) == (0, PLAN, "")
    assert sales.states(RUN)["load.ch"] == "failed"
    done = flow(*clear, "--yes")
    assert (done.code, done.out) == (0, PLAN)
    assert done.err == "see how it is doing: flow grid sales\n"
    assert sales.states(RUN)["load.ch"] == "none"
    sales.finish()
    assert sales.value("select count(*) from run where state = 'success'") == 3


def test_the_fields_of_the_contract(sales, flow):
    done = flow("clear", "sales", "2026-07-08", "-t", "load.ch", "--yes", "-o", "json")
    assert json.loads(done.out) == {
        "dry_run": False,
        "runs": [
            {
                "dag_id": "sales",
                "run_id": RUN,
                "before": "failed",
                "after": "queued",
                "version_before": 1,
                "version": 1,
                "paused": False,
                "tasks": [
                    {
                        "task_id": "load.ch",
                        "map_index": [],
                        "before": "failed",
                        "after": "none",
                        "held": False,
                    }
                ],
                "dropped": [],
                "vanished": [],
                "added": [],
                "changed": [],
                "stays": ["report"],
                "codeless": [],
            }
        ],
    }
    assert done.err.startswith(
        "report did not run because of an earlier end and stay so; --downstream clears them too\n"
    )


def test_a_range_is_counted(sales, flow):
    sales.rows("update dag set max_active_runs = 1, paused = true returning 1")
    for day in (5, 6):
        assert flow("run", "sales", "--date", f"2026-07-0{day}").code == 0
    done = flow("clear", "sales", "--from", "2026-07-05", "--yes")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[:3] == [
        "manual__2026-07-07T00:00:00+00:00: success -> queued, version 1",
        "  extract: success -> none",
        "  load.ch: success -> none",
    ]
    assert "Warning: DAG sales is paused: its queued runs start after" in done.err
    sales.rows("update dag set paused = false returning 1")
    sales.finish()
    many = flow("clear", "sales", "--from", "2026-07-05", "--dry-run")
    assert many.out.splitlines()[:2] == [
        "manual__2026-07-05T00:00:00+00:00: success -> queued, version 1",
        "  4 tasks: 4 success",
    ]
    assert many.err == "they start oldest first, 1 at a time (max_active_runs)\n"


def test_nothing_to_clear(sales, flow):
    done = flow("clear", "sales", "2026-07-07", "--only-failed")
    assert (done.code, done.out, done.err) == (0, "", "nothing to clear in 1 run of sales\n")


@pytest.mark.parametrize(("outcome", "code"), [("success", 0), ("failed", 1)])
def test_waiting_ends_with_the_runs(sales, environment, project, outcome, code):
    command = ["clear", "sales", "2026-07-08", "-t", "report", "--yes", "--wait"]
    process = subprocess.Popen(
        [sys.executable, "-m", "flow_cli", *command],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: sales.rows("select from run where state = 'queued'"), "the clear")
        sales.rows("update task_hot set state = 'success' where state = 'failed' returning 1")
        sales.finish({"report": TaskState(outcome)})
        _, err = process.communicate(timeout=limit(60))
    finally:
        process.kill()
    assert process.returncode == code
    cause = f": flow why sales {RUN}" if outcome == "failed" else ""
    assert err.endswith(f"sales {RUN}: {outcome}{cause}\n")


def test_what_other_dags_made_of_it_is_refused_until_there_are_assets(sales, flow):
    refused = flow("clear", "sales", "latest", "--across-dags", "--yes")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "--across-dags needs assets, which Flow does not have yet: it does not know what other DAGs"
        " have made of this\n"
        "name the other DAGs, by a glob such as 'sales_*', and their tasks with -t\n"
    )
    assert sales.value("select count(*) from run where state = 'success'") == 2


def test_several_dags_and_a_condition_on_their_tasks(sales, flow):
    sales.define("sales_us", file="/dags/us.py")
    assert flow("run", "sales_us", "--date", "2026-07-08").code == 0
    sales.finish({"load": TaskState.FAILED})
    where = "(dag~*us or operator~Python*) and task.state=failed"
    clear = ("clear", "sales*", "--from", "2026-07-01", "--where", where)
    planned = flow(*clear, "--dry-run")
    assert planned.out.splitlines() == [
        f"sales/{RUN}: failed -> queued, version 1",
        "  load.ch: failed -> none",
        f"sales_us/{RUN}: failed -> queued, version 1",
        "  load: failed -> none",
    ]
    refused = flow(*clear)
    assert (refused.code, refused.out) == (2, "")
    done = flow(*clear, "--yes", "-o", "json")
    assert [(one["dag_id"], one["run_id"]) for one in json.loads(done.out)["runs"]] == [
        ("sales", RUN),
        ("sales_us", RUN),
    ]
    assert done.err.endswith("see how it is doing: flow runs list\n")
    nothing = flow(*clear, "--yes")
    assert (nothing.code, nothing.err) == (0, "nothing to clear in 4 runs of 2 DAGs\n")


def test_a_field_that_both_have_is_the_runs(sales, flow):
    of_runs = flow("clear", "sales", "--where", "state=failed", "--dry-run", "-o", "json")
    tasks = json.loads(of_runs.out)["runs"][0]["tasks"]
    assert [one["before"] for one in tasks] == ["success", "failed", "success", "upstream_failed"]
    unknown = flow("clear", "sales", "--where", "tri_number=1", "--dry-run")
    assert unknown.code == 2
    assert "did you mean try_number" in unknown.err


def test_a_state_that_there_is_not_is_refused(sales, flow):
    for condition, told in (
        (
            "state=skipped",
            "state is never 'skipped'\n"
            "it is one of queued, running, success, failed; task.state may be skipped\n",
        ),
        ("run.state~fial*", "run.state is never 'fial*'\n"),
        ("try_number=1 and task.state=faild", "task.state is never 'faild'\nit is one of none, "),
    ):
        refused = flow("clear", "sales", "latest", "--where", condition, "--dry-run")
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith(told)
    done = flow(
        "clear", "sales", "2026-07-08", "--where", "task.state=upstream_failed", "--dry-run"
    )
    assert (done.code, "report: upstream_failed -> none" in done.out) == (0, True)


def test_runs_that_are_paused_are_named(sales, flow):
    sales.rows("update run set paused = true where run_id = %s returning 1", RUN)
    done = flow("clear", "sales", "2026-07-08", "--dry-run")
    assert done.err == f"Warning: paused, to go on after `flow runs resume`: {RUN}\n"


def test_an_index_of_a_task_that_has_none(sales, flow):
    refused = flow("clear", "sales", "2026-07-08", "-t", "load.ch[3]", "--yes")
    assert (refused.code, refused.out) == (3, "")
    assert refused.err == (
        f"run '{RUN}' has no load.ch[3]\nload.ch is not mapped, so it is named without an index\n"
    )


def test_the_plan_says_what_another_version_changes(sales, flow):
    sales.define("sales", {"extract": (), "check": ("extract",), "report": ("check",)})
    clear = ("clear", "sales", "2026-07-08", "-t", "extract,report", "--dry-run")
    assert flow(*clear).out.splitlines() == [
        f"{RUN}: failed -> queued, version 1 -> 2",
        "  extract: success -> none",
        "  report: upstream_failed -> none",
        "  load.ch: stays, not in version 2",
        "  load.de: stays, not in version 2",
        "  check: new in version 2",
        "  report: changed in version 2: upstream",
    ]
    assert flow(*clear, "--version", "run").out.splitlines() == [
        f"{RUN}: failed -> queued, version 1",
        "  extract: success -> none",
        "  report: upstream_failed -> none",
    ]
    for day in (5, 6):
        assert flow("run", "sales", "--date", f"2026-07-0{day}").code == 0
    sales.finish()
    many = flow("clear", "sales", "--from", "2026-07-05", "--dry-run").out.splitlines()
    assert many[:2] == [
        "manual__2026-07-05T00:00:00+00:00: success -> queued, version 2",
        "  3 tasks: 3 success",
    ]
    assert many[10:] == [
        "sales, version 1 -> 2, 3 runs:",
        "  load.ch: stays, not in version 2",
        "  load.de: stays, not in version 2",
        "  check: new in version 2",
        "  report: changed in version 2: upstream",
    ]
    only = flow("clear", "sales", "2026-07-08", "--state", "failed", "--yes")
    assert (only.code, only.out) == (0, "")
    assert only.err == (
        "nothing to clear in 1 run of sales\n"
        "load.ch would fit, but the latest version does not have it, and its code is gone from the "
        "file: it stays as it ended\n"
    )


def test_tasks_whose_code_is_gone_are_told_before_the_question(world: World, flow) -> None:
    def define(code: str, *tasks: str, code_hash: str) -> None:
        specs = [TaskSpec(task_id=name, operator="PythonOperator") for name in tasks]
        world.define("sales", specs, code=code, code_hash=code_hash)

    define("pinned", "extract", "load", code_hash="0" * 64)
    running.run(world.deployment, Wish("sales", run_id="one"))
    world.finish()
    define("latest", "extract", "load", code_hash="1" * 64)
    running.run(world.deployment, Wish("sales", run_id="two"))
    world.finish()
    define("pinned", "extract", code_hash="2" * 64)

    asked = flow("clear", "sales", "one", "--version", "run")
    assert (asked.code, asked.out) == (2, "")
    assert asked.err.startswith(
        "one: success -> queued, version 1\n"
        "  extract: success -> none\n"
        "  load: success -> none\n"
        "  extract, load: would end as code_mismatch, the DAG file has other code than version 1\n"
        "Warning: the code of version 1 of sales is not in its file any more: put it back where "
        "workers run it, or go on with the latest: --version latest\n"
        "this needs an answer"
    )
    done = flow("clear", "sales", "two", "--version", "run", "--yes", "-o", "json")
    assert json.loads(done.out)["runs"][0]["codeless"] == [
        {"task_id": "load", "ends_as": "code_missing"}
    ]
    assert done.err.startswith(
        "Warning: the file of sales does not have all tasks of version 2 any more: put them back "
        "before they run, or leave --version run out: then they stay as they ended\n"
    )
    world.conn.execute("update dag_file set content_hash = %s", ["3" * 64])  # cannot be imported
    broken = flow("clear", "sales", "one", "--dry-run")
    assert broken.err == (
        "Warning: the file of sales has changed since version 3, its latest, and could not be "
        "imported: mend it first, see `flow dags errors`\n"
    )


def test_waiting_for_runs_of_several_dags(sales, environment, project):
    sales.define("sales_us", file="/dags/us.py")
    running.run(sales.deployment, Wish("sales_us", date="2026-07-08"))
    sales.finish()
    command = ["clear", "sales*", "--where", "logical_date=2026-07-08", "-t", "report"]
    process = subprocess.Popen(
        [sys.executable, "-m", "flow_cli", *command, "--downstream", "--yes", "--wait"],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: sales.rows("select from run where state = 'queued'"), "the clear")
        sales.finish()
        _, err = process.communicate(timeout=limit(60))
    finally:
        process.kill()
    assert process.returncode == 1  # load.ch has failed, so that run fails again
    assert set(err.splitlines()[-2:]) == {
        f"sales {RUN}: failed: flow why sales {RUN}",
        f"sales_us {RUN}: success",
    }


def test_what_is_of_a_try_before_the_clear_is_told_of(world: World, flow) -> None:
    """After the clear the first task fails, so the second one, which had run, does not."""
    world.define("sales", {"extract": (), "load": ("extract",)})
    running.run(world.deployment, Wish("sales", run_id="it"))
    world.schedule()
    world.end(world.claim()["extract"])
    world.schedule()
    world.end(world.claim()["load"], value='"rows"')
    world.schedule()
    log = world.home / "load.log"
    log.write_text("of before\n")
    world.conn.execute("update try_history set log = %s where task_id = 'load'", [str(log)])
    told = "from before the last clear, and not run since: load (try 1)\n"
    of_load = (
        ("logs", "sales", "it", "load"),
        ("logs", "sales", "it", "load", "-f"),
        ("xcom", "list", "sales", "it"),
        ("xcom", "get", "sales", "it", "load"),
        ("tasks", "tries", "sales", "it", "load"),
    )
    assert [flow(*verb).err for verb in of_load] == [""] * 5
    assert flow("clear", "sales", "it", "--yes").code == 0
    world.finish({"extract": TaskState.FAILED})
    assert world.states("it") == {"extract": "failed", "load": "upstream_failed"}
    for verb in of_load:
        shown = flow(*verb)
        assert (shown.code, shown.err) == (0, told)
    for verb in of_load[:4]:
        assert flow(*verb, "--try", "1").err == ""
    assert flow("tasks", "tries", "sales", "it", "extract").err == ""
