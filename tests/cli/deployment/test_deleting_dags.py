"""`flow dags delete`: what it asks, does and says."""

from __future__ import annotations

import json

from flow.store import dags
from flow.store.connect import transaction

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
