"""`flow why`: what it prints, and the fields of the contract."""

from __future__ import annotations

import json

RUN = "manual__2026-07-08T00:00:00+00:00"
REPORT = f"""\
sales/{RUN}/report: upstream_failed
  trigger rule all_success: of 2 upstream tasks 1 failed, 1 success
  report <- load.ch: load.ch is failed: no reason was given
"""


def test_a_task_that_could_not_run(sales, flow):
    ended = flow("why", "sales", "2026-07-08", "report")
    assert (ended.code, ended.out) == (0, REPORT)
    assert ended.err == f"its log: flow logs sales {RUN} load.ch\n"
    answer = json.loads(flow("why", "sales", "2026-07-08", "report", "-o", "json").out)
    reasons = answer.pop("reasons")
    assert answer == {
        "dag_id": "sales",
        "run_id": RUN,
        "task_id": "report",
        "map_index": [],
        "state": "upstream_failed",
        "verdict": "ended",
        "tasks": [],
        "unfinished": 0,
    }
    assert list(reasons[0]) == ["code", "text", "since", "refers_to", "facts"]
    assert [one["code"] for one in reasons] == ["trigger_rule", "cause"]
    assert reasons[1]["refers_to"] == f"sales/{RUN}/load.ch"
    assert reasons[1]["facts"]["chain"] == "report <- load.ch"


def test_a_run_and_what_holds_it_up(sales, flow):
    assert flow("run", "sales", "--run-id", "mine").code == 0
    sales.schedule()
    sales.claim()
    lines = flow("why", "sales", "mine").out.splitlines()
    assert lines[0] == "sales/mine: running"
    assert lines[1].startswith("  no scheduler is alive")
    assert lines[3] == "extract: running"
    assert lines[4].startswith("  try 1 of 1 has run since 2")
    assert lines[-1] == "3 more tasks of the run have not ended"
    assert flow("tasks", "mark", "sales", "mine", "load.ch,report", "skipped", "--yes").code == 0
    lines = flow("why", "sales", "mine").out.splitlines()
    assert lines[-1] == "1 more task of the run has not ended"
    (task,) = json.loads(flow("why", "sales", "mine", "-o", "json").out)["tasks"]
    assert list(task) == ["task_id", "map_index", "state", "verdict", "reasons"]


def test_a_run_that_is_not_there(sales, flow):
    ended = flow("why", "sales")
    assert ended.code == 0
    assert ended.out == (
        "sales: no newer run\n"
        "  no scheduler is alive: nothing is created, started or decided\n"
        "  the DAG has no schedule: somebody starts its runs\n"
    )
