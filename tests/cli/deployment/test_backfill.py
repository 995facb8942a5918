"""`flow backfill` and `flow backfills`: what they show, ask, do and say."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from flow.states import TaskState
from operations_world import World
from waiting import limit, wait_until

DAYS = ("--from", "2026-07-07", "--to", "2026-07-10")
RUN = "manual__2026-07-08T00:00:00+00:00"
PLAN = f"""\
sales: 4 intervals from 2026-07-07T00:00:00+00:00 to 2026-07-10T00:00:00+00:00, oldest first, \
2 at a time
  get a run: 3
  run again: 1 (1 failed)
    2026-07-07T00:00:00+00:00: get a run
    2026-07-08T00:00:00+00:00: run again, {RUN} (failed)
    2026-07-09T00:00:00+00:00: get a run
    2026-07-10T00:00:00+00:00: get a run
  cleared: all tasks of the runs that run again, with the latest version
  estimated: nothing to go by, no run has succeeded lately
"""


@pytest.fixture
def daily(world: World, flow) -> World:
    """DAG `sales`, daily and paused, with a failed run on the 8th."""
    start = datetime(2026, 7, 1, tzinfo=UTC)
    world.define("sales", schedule="@daily", start_date=start, catchup="none")
    assert flow("run", "sales", "--date", "2026-07-08").code == 0
    world.finish({"load": TaskState.FAILED})
    world.rows("update dag set paused = true returning 1")
    return world


def test_it_shows_asks_and_refuses_without_a_terminal(daily: World, flow) -> None:
    backfill = ("backfill", "sales", *DAYS, "--max-active-runs", "2", "--reprocess", "failed")
    refused = flow(*backfill)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(PLAN + "this needs an answer")
    planned = flow(*backfill, "--dry-run")
    assert (planned.code, planned.out, planned.err) == (0, PLAN, "")
    assert daily.value("select count(*) from backfill") == 0
    done = flow(*backfill, "--yes")
    assert (done.code, done.out) == (
        0, "backfill 1 of sales is running: 0 of 4 runs have succeeded, 4 waiting\n"
    )  # fmt: skip
    assert done.err == PLAN + (
        "see how it is doing: flow backfills show 1 -f; end it: flow backfills cancel 1\n"
    )
    daily.finish()
    assert daily.rows("select state, count(*) from run group by 1") == [("success", 4)]
    nothing = flow(*backfill)
    assert nothing.code == 0
    assert nothing.err == "nothing to do: every interval has a run; see --reprocess (now failed)\n"


def test_the_fields_of_the_contract(daily: World, flow) -> None:
    options = ("--order", "newest", "-t", "load+", "--conf", '{"a": 1}', "--priority", "7")
    done = flow("backfill", "sales", *DAYS, *options, "--yes", "-o", "json")
    made = json.loads(done.out)
    created_by, created_at = made.pop("created_by"), made.pop("created_at")
    assert (created_by, bool(created_at)) == (daily.value("select created_by from backfill"), True)
    assert made == {
        "id": 1,
        "dag_id": "sales",
        "from": "2026-07-07T00:00:00Z",
        "to": "2026-07-10T00:00:00Z",
        "state": "running",
        "total": 3,
        "done": 0,
        "failed": 0,
        "running": 0,
        "max_active_runs": 10,
        "order": "newest",
        "reprocess": "none",
        "waiting": 3,
        "skipped": 1,
        "tasks": ["load", "report"],
        "version": "latest",
        "priority": 7,
        "conf": {"a": 1},
        "ended_at": None,
    }
    listed = json.loads(flow("backfills", "list", "--active", "-o", "json").out)
    shown = json.loads(flow("backfills", "show", "-o", "json").out)
    intervals = shown.pop("intervals")
    assert listed == [shown]
    assert intervals[2] == {
        "data_interval_start": "2026-07-08T00:00:00Z",
        "data_interval_end": "2026-07-09T00:00:00Z",
        "action": "skip",
        "note": "its run has failed",
        "run_id": RUN,
        "state": "failed",
    }
    planned = json.loads(
        flow("backfill", "sales", "--from", "2026-07-11", "--to", "2026-07-12", "--dry-run", "-o",
             "json").out
    )  # fmt: skip
    assert (planned["id"], planned["total"], planned["estimate_s"]) == (None, 2, None)
    assert [one["action"] for one in planned["intervals"]] == ["create", "create"]


def test_it_is_paused_resumed_and_cancelled_from_any_terminal(daily: World, flow) -> None:
    assert flow("backfill", "sales", *DAYS, "--max-active-runs", "1", "--yes").code == 0
    assert flow("backfills", "pause").out.startswith("backfill 1 of sales is paused: 0 of 3")
    listed = flow("backfills", "list").out.splitlines()
    assert listed[1].split()[:3] == ["1", "sales", "paused"]
    assert flow("backfills", "resume", "1").out.startswith("backfill 1 of sales is running")
    daily.schedule()
    shown = flow("backfills", "show").out
    assert "backfill__2026-07-07T00:00:00+00:00" in shown
    refused = flow("backfills", "cancel")
    assert (refused.code, refused.out) == (2, "")
    expected = "backfill__2026-07-07T00:00:00+00:00: running -> failed\n"
    assert refused.err.startswith(expected)
    done = flow("backfills", "cancel", "--yes")
    assert (done.code, done.out) == (
        0,
        expected + "2 intervals of sales without a turn so far: no change\n",
    )
    assert done.err == (
        "backfill 1 of sales is cancelled: 0 of 3 runs have succeeded, 1 failed, 2 waiting\n"
    )
    again = flow("backfills", "cancel", "1", "--yes")
    assert (again.code, again.err.splitlines()[0]) == (4, "backfill 1 of DAG 'sales' was cancelled")


@contextmanager
def following(environment, project, *options: str, stderr: int = subprocess.PIPE) -> Iterator:
    """A backfill that is followed."""
    command = ["backfill", "sales", *DAYS, "--yes", *options]
    with subprocess.Popen(
        [sys.executable, "-m", "flow_cli", *command],
        cwd=project,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_it_is_followed_in_lines_and_a_failed_run_is_exit_1(
    daily: World, environment, project
) -> None:
    with following(environment, project, "--wait") as process:
        wait_until(lambda: daily.rows("select from backfill"), "the backfill")
        daily.finish({"report": TaskState.FAILED})
        out, err = process.communicate(timeout=limit(60))
    assert process.returncode == 1
    assert out == "backfill 1 of sales is done: 0 of 3 runs have succeeded, 3 failed\n"
    run = "backfill__2026-07-07T00:00:00+00:00"
    assert f"2026-07-07T00:00:00+00:00 failed: flow why sales {run}\n" in err
    assert "backfill 1: 3 of 3, 3 failed" in err


def test_an_interrupt_only_stops_looking(daily: World, environment, project, flow) -> None:
    with following(environment, project, "--wait") as process:
        wait_until(lambda: daily.rows("select from backfill"), "the backfill")
        daily.schedule()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=limit(60))
    assert (process.returncode, out) == (130, "")
    assert err.endswith(
        "backfill 1 goes on; see how it is doing: flow backfills show 1 -f; "
        "end it: flow backfills cancel 1\n"
    )
    daily.finish()
    assert flow("backfills", "show", "1", "-f").out.split()[:6] == [
        "ID", "1", "DAG", "ID", "sales", "FROM"
    ]  # fmt: skip


def test_on_a_terminal_it_is_followed_with_a_cell_for_each_interval(
    daily: World, environment, project
) -> None:
    ours, theirs = pty.openpty()
    shown = b""
    environment["NO_COLOR"] = "1"
    with following(environment, project, stderr=theirs) as process:
        os.close(theirs)
        wait_until(lambda: daily.rows("select from backfill"), "the backfill")
        daily.finish({"report": TaskState.FAILED})
        while part := _read(ours):
            shown += part
        assert process.wait(limit(60)) == 1
    os.close(ours)
    text = shown.decode()
    assert "✗✗✗" in text
    assert "backfill 1 of sales: 3 of 3, 3 failed" in text
    assert "failed: flow why sales backfill__2026-07-09T00:00:00+00:00" in text


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says EIO when the other side of a terminal is closed
        return b""
