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


WIDE = """\
sales: version 1 -> 2
  description
    - None of the figures of the night may be missing in the report of the day
    + All of the figures of the night have to be in the report of the day
  doc_md
    - Extracts.
    + Extracts twice.
  ~ extract
    retries 0 -> 3
    execution_timeout null -> 86400.0
    queue default -> a_queue_with_a_long_name
"""


def test_long_changes_are_broken_into_lines_that_fit(world, flow, on_terminal):
    said = "None of the figures of the night may be missing in the report of the day"
    extract = TaskSpec(task_id="extract", operator="BashOperator")
    world.define("sales", [extract], doc_md="Sales.\nExtracts.\nLoads.", description=said)
    slow = TaskSpec(
        task_id="extract",
        operator="BashOperator",
        retries=3,
        queue="a_queue_with_a_long_name",
        execution_timeout=86_400.0,
    )
    said = "All of the figures of the night have to be in the report of the day"
    world.define("sales", [slow], doc_md="Sales.\nExtracts twice.\nLoads.", description=said)
    shown = flow("dags", "diff", "sales").out
    assert shown == WIDE
    assert max(map(len, shown.splitlines())) <= 80
    assert on_terminal("dags", "diff", "sales", columns=80).out.replace("\r", "") == shown
