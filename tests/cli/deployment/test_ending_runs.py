"""`flow runs cancel` and `flow runs delete`: what they ask, do and say."""

from __future__ import annotations

import json

RUN = "manual__2026-07-08T00:00:00+00:00"


def test_a_run_is_cancelled_and_deleted(sales, flow):
    assert flow("run", "sales", "--run-id", "mine").code == 0
    sales.schedule()
    sales.claim()
    cancel = ("runs", "cancel", "sales", "mine")
    shown = "mine: running -> failed\n  stopped: extract\n  skipped: load.ch, load.de, report\n"
    refused = flow(*cancel)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(shown + "this needs an answer")
    assert flow(*cancel, "--dry-run").out == shown
    active = flow("runs", "delete", "sales", "mine", "--yes")
    assert (active.code, active.out) == (4, "")
    assert active.err.splitlines()[1] == "cancel it first: flow runs cancel sales mine"
    done = flow(*cancel, "--yes", "-o", "json")
    assert json.loads(done.out) == {
        "dag_id": "sales",
        "dry_run": False,
        "runs": [
            {
                "run_id": "mine",
                "before": "running",
                "after": "failed",
                "stopped": ["extract"],
                "skipped": ["load.ch", "load.de", "report"],
            }
        ],
    }
    again = flow(*cancel, "--yes")
    assert (again.code, again.out) == (4, "")
    too_soon = flow("runs", "delete", "sales", "mine", "--yes")
    assert too_soon.code == 4
    assert "is still being stopped" in too_soon.err
    sales.rows("delete from stopping returning 1")
    deleted = flow("runs", "delete", "sales", "mine", "--yes", "-o", "json")
    assert json.loads(deleted.out) == {
        "dag_id": "sales",
        "dry_run": False,
        "runs": [{"run_id": "mine", "state": "failed", "tasks": 4}],
        "comes_again": False,
    }
    assert flow("runs", "show", "sales", "mine").code == 3


def test_deleting_asks(sales, flow):
    delete = ("runs", "delete", "sales", "--to", "2026-07-07")
    shown = "manual__2026-07-07T00:00:00+00:00: success, 4 tasks\n"
    refused = flow(*delete)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(shown)
    assert flow(*delete, "--dry-run").out == shown
    assert sales.value("select count(*) from run") == 3
    assert flow(*delete, "--yes").out == shown
    assert sales.value("select count(*) from run") == 2


def test_a_range_without_active_runs_is_left_alone(sales, flow):
    done = flow("runs", "cancel", "sales", "--from", "2026-07-01", "--yes")
    assert (done.code, done.out) == (0, "")
    assert done.err == "nothing to cancel: 3 runs of sales ended before\n"
