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
        "dry_run": False,
        "runs": [
            {
                "dag_id": "sales",
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
        "dry_run": False,
        "runs": [{"dag_id": "sales", "run_id": "mine", "state": "failed", "tasks": 4}],
        "come_again": [],
    }
    assert flow("runs", "show", "sales", "mine").code == 3


def test_deleting_asks(sales, flow):
    delete = ("runs", "delete", "sales", "--to", "2026-07-07")
    shown = "manual__2026-07-07T00:00:00+00:00: success, 4 tasks"
    refused = flow(*delete)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"{shown}\n")
    assert flow(*delete, "--dry-run").out == f"{shown}; would be deleted\n"
    assert sales.value("select count(*) from run") == 3
    assert flow(*delete, "--yes").out == f"{shown}; deleted\n"
    assert sales.value("select count(*) from run") == 2


def test_a_range_without_active_runs_is_left_alone(sales, flow):
    done = flow("runs", "cancel", "sales", "--from", "2026-07-01", "--yes")
    assert (done.code, done.out) == (0, "")
    assert done.err == "nothing to cancel: 3 runs ended before\n"


def test_a_run_is_marked(sales, flow):
    mark = ("runs", "mark", "sales", "2026-07-08", "success")
    shown = f"{RUN}: failed -> success\n  success: load.ch, report\n"
    refused = flow(*mark)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(shown + "this needs an answer")
    assert flow(*mark, "--yes").out == shown
    again = flow(*mark, "--yes", "-o", "json")
    assert json.loads(again.out) == {"dry_run": False, "runs": [], "unchanged": [RUN]}
    assert again.err == f"already so: {RUN}\n"
    assert sales.value("select count(*) from run where state = 'success'") == 3


def test_runs_are_marked_by_a_condition(sales, flow):
    mark = ("runs", "mark", "s*", "failed", "--where", "state=success and logical_date<2026-07-09")
    done = flow(*mark, "--yes", "-o", "json")
    (run,) = json.loads(done.out)["runs"]
    assert (run["run_id"], run["after"], run["tasks"]) == (
        "manual__2026-07-07T00:00:00+00:00", "failed", []
    )  # fmt: skip
    assert sales.value("select count(*) from run where state = 'failed'") == 2


def test_what_does_not_say_which_runs_or_how_they_ended(sales, flow):
    for arguments, message in (
        (("sales", "success"), "there are too few arguments after DAG"),
        (("sales", "latest", "success", "--from", "-1d"), "there are too many arguments after DAG"),
        (("sales", "latest", "well"), "'well' is not one of success, failed"),
        (("sales", "failed", "--where", "stat=failed"), "there is no field 'stat' to ask for"),
        (
            ("sales", "failed", "--where", "state=bogus"),
            "state is never 'bogus'\nit is one of queued, running, success, failed\n",
        ),
        (
            ("sales", "failed", "--where", "type=hand"),
            "run_type is never 'hand'\nit is one of scheduled, manual, backfill, asset\n",
        ),
    ):
        refused = flow("runs", "mark", *arguments)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith(message)


def test_a_run_is_paused_and_goes_on(sales, flow):
    assert flow("run", "sales", "--run-id", "mine").code == 0
    sales.schedule()
    assert flow("runs", "pause", "sales", "mine").out == "mine: running, paused\n"
    assert "the run is paused" in flow("why", "sales", "mine", "extract").out
    assert flow("runs", "pause", "sales", "mine").err == "already so: mine\n"
    done = flow("runs", "resume", "sales", "--where", "state=running", "--yes", "-o", "json")
    assert json.loads(done.out) == {
        "dry_run": False,
        "runs": [{"dag_id": "sales", "run_id": "mine", "state": "running"}],
        "unchanged": [],
    }
    ended = flow("runs", "pause", "sales", "2026-07-08")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.splitlines()[1].endswith(f"flow clear sales {RUN}")


def test_a_task_is_held_and_released(sales, flow):
    assert flow("run", "sales", "--run-id", "mine").code == 0
    sales.schedule()
    assert flow("tasks", "hold", "sales", "mine", "extract,load").out == (
        "extract: queued, held\nload.ch: none, held\nload.de: none, held\n"
    )
    assert "the task is held" in flow("why", "sales", "mine", "extract").out
    done = flow("tasks", "release", "sales", "extract", "--from", "-1d", "--yes", "-o", "json")
    (run,) = json.loads(done.out)["runs"]
    assert run["tasks"] == [
        {"task_id": "extract", "map_index": [], "state": "scheduled", "running": False}
    ]
    assert flow("tasks", "mark", "sales", "mine", "extract", "success", "--yes").code == 0
    left = flow("tasks", "hold", "sales", "mine", "extract")
    assert (left.code, left.out) == (0, "")
    assert left.err.startswith("left alone, because it has ended: extract; clear it")
