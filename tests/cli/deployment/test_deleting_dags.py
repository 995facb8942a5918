"""`flow dags delete`: what it asks, does and says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from flow.store import dags
from flow.store.connect import transaction
from operations_world import World
from waiting import limit

KEPT = "sales: 3 runs (1 failed, 2 success), 1 version, 0 backfills"
INTERVALS = "\n  intervals from 2026-07-07T00:00:00+00:00 to 2026-07-09T00:00:00+00:00\n"


def test_a_dag_that_is_gone_is_deleted(sales, flow):
    delete = ("dags", "delete", "sales")
    refused = flow(*delete, "--yes")
    assert (refused.code, refused.out) == (4, "")
    assert refused.err.startswith("/dags/one.py defines DAG 'sales', so it is not deleted")
    with transaction(sales.conn, "test"):
        dags.hide(sales.conn, ["/dags/one.py"])
    assert flow("dags", "list").err == "no DAGs\n"
    assert flow("dags", "list", "--gone").out.splitlines()[1].startswith("sales")
    asked = flow(*delete)
    assert (asked.code, asked.out) == (2, "")
    assert asked.err.startswith(f"{KEPT}{INTERVALS}this needs an answer")
    logs = f"its logs stay: {sales.home}/logs/dag_id=sales\n"
    looked = flow(*delete, "--dry-run")
    would = f"{KEPT}; would be deleted{INTERVALS}"
    assert (looked.code, looked.out, looked.err) == (0, would, logs)
    assert sales.value("select count(*) from run") == 3
    done = flow(*delete, "--yes")
    assert (done.code, done.out, done.err) == (0, f"{KEPT}; deleted{INTERVALS}", logs)
    assert sales.rows("select from dag") == []
    assert flow(*delete, "--yes").code == 3
    (entry,) = json.loads(flow("audit", "--dag", "sales", "-o", "json", "--limit", "1").out)
    assert (entry["verb"], entry["target"], entry["before"]) == (
        "dags.delete",
        "sales",
        {"runs": 3, "tasks": 12, "file": "/dags/one.py", "versions": 1, "backfills": 0},
    )


def test_a_dag_that_is_there_begins_anew(sales, flow):
    begin_anew = ("dags", "delete", "sales", "--begin-anew", "--yes", "-o", "json")
    refused = flow(*begin_anew)
    assert (refused.code, refused.out) == (4, "")
    assert json.loads(refused.err)["error"]["hint"] == "pause it first: flow dags pause sales"
    assert flow("dags", "pause", "sales").code == 0
    looked = flow(*begin_anew, "--dry-run")
    assert (looked.code, "begins anew" in looked.err) == (0, False)
    done = flow(*begin_anew)
    assert json.loads(done.out) == {
        "dry_run": False,
        "dag_id": "sales",
        "file": "/dags/one.py",
        "begins_anew": True,
        "runs": {"failed": 1, "success": 2},
        "first_start": "2026-07-07T00:00:00Z",
        "last_start": "2026-07-09T00:00:00Z",
        "versions": 0,
        "backfills": 0,
        "logs": f"{sales.home}/logs/dag_id=sales",
    }
    assert done.err.endswith("its schedule begins anew with: flow dags unpause sales\n")
    assert json.loads(flow("dags", "show", "sales", "-o", "json").out)["version"] == 1
    assert flow("runs", "list", "sales").err == "no runs\n"


def _connection_lost(sales: World, process: subprocess.Popen[str]) -> None:
    sales.rows(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where application_name = 'flow command' and datname = current_database()"
    )


def _interrupted(sales: World, process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)


def _defined_again(sales: World, process: subprocess.Popen[str]) -> None:
    sales.rows("update dag set present = true returning 1")


@pytest.mark.parametrize(
    ("happens", "moment", "code", "certain"),
    [
        (_connection_lost, "before_commit=stop@2", 5, False),
        (_interrupted, "before_commit=stop@2", 130, False),
        (_defined_again, "after_commit=stop@1", 4, True),
    ],
)
def test_a_deletion_that_ends_half_way_says_how_far_it_came(
    sales, flow, environment, project, happens, moment, code, certain
):
    sales.rows(
        "insert into run select (jsonb_populate_record(r, jsonb_build_object("
        " 'run_key', r.run_key + n, 'run_id', 'copy_' || n, 'interval_run', false))).*"
        " from run r, generate_series(1, 1000) n where r.run_id like '%%07-07%%' returning 1"
    )
    with transaction(sales.conn, "test"):
        dags.hide(sales.conn, ["/dags/one.py"])
    environment["FLOW_FAULTS"] = f"ops.dags.delete.{moment}"
    process = subprocess.Popen(
        [sys.executable, "-m", "flow_cli", "dags", "delete", "sales", "--yes"],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        stopped = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        assert stopped is not None and stopped.si_code == os.CLD_STOPPED
        happens(sales, process)
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=limit(60))
    finally:
        process.kill()
    assert (process.returncode, out) == (code, "")
    told = "1000 of 1003 runs are deleted, the oldest; the same command goes on with what is left\n"
    assert err.endswith(f"; {told}" if certain else f"at least {told}"), err
    assert sales.value("select count(*) from run") == 3
    sales.rows("update dag set present = false returning 1")
    del environment["FLOW_FAULTS"]
    assert flow("dags", "delete", "sales", "--yes").out.startswith("sales: 3 runs")
    assert sales.rows("select from dag") == []
