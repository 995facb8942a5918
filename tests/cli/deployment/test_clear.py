"""`flow clear`: what it shows, asks, does and says."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from flow.states import TaskState
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
        "dag_id": "sales",
        "dry_run": False,
        "runs": [
            {
                "run_id": RUN,
                "before": "failed",
                "after": "queued",
                "version_before": 1,
                "version": 1,
                "tasks": [
                    {"task_id": "load.ch", "map_index": [], "before": "failed", "after": "none"}
                ],
                "dropped": [],
                "added": [],
                "stays": ["report"],
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
    assert err.endswith(f"sales {RUN}: {outcome}\n")


def test_other_dags_are_reserved_for_assets(sales, flow):
    refused = flow("clear", "sales", "2026-07-08", "--across-dags", "--yes")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("there are no assets yet, so nothing leads from one DAG")
