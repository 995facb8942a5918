"""`flow dags diff`: two versions of a DAG."""

from __future__ import annotations

import json

from flow.graph import TaskSpec

DIFF = """\
sales: version 1 -> 2
  max_active_runs 16 -> 1
  + check
  - load
  ~ extract: retries 0 -> 3
  + check >> report
  + extract >> check
  - extract >> load
  - load >> report
"""


def test_the_last_two_versions(world, flow):
    world.define("sales")
    only = flow("dags", "diff", "sales")
    assert (only.code, only.out) == (2, "")
    world.define(
        "sales",
        [
            TaskSpec(task_id="check", operator="BashOperator", upstream=("extract",)),
            TaskSpec(task_id="extract", operator="BashOperator", retries=3),
            TaskSpec(task_id="report", operator="BashOperator", upstream=("check",)),
        ],
        max_active_runs=1,
    )
    for arguments in ((), ("1",), ("1", "2")):
        ended = flow("dags", "diff", "sales", *arguments)
        assert (ended.code, ended.out, ended.err) == (0, DIFF, "")
    document = json.loads(flow("dags", "diff", "sales", "-o", "json").out)
    assert list(document) == [
        *("dag_id", "before", "after", "fields", "tasks_added", "tasks_removed", "tasks_changed"),
        *("edges_added", "edges_removed", "code_changed"),
    ]
    assert document["tasks_changed"] == [
        {"task_id": "extract", "fields": [{"field": "retries", "before": 0, "after": 3}]}
    ]
    assert flow("dags", "diff", "sales", "1", "1").out.endswith("  the graph is the same\n")
    missing = flow("dags", "diff", "sales", "1", "9")
    assert missing.code == 3
    assert missing.err.splitlines()[1] == "it has versions 1 to 2"
