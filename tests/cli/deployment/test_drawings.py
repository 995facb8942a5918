"""`flow graph` on a deployment; what it draws is told in tests/cli/test_graph.py."""

from __future__ import annotations

import json

RUN = "manual__2026-07-08T00:00:00+00:00"

OF_RUN = f"""\
sales/{RUN}, version 1: failed, 4 tasks, 4 edges

✓    extract    success
│    load/
├─✗    load.ch  failed
✓ │    load.de  success
⊘─╯  report     upstream_failed

✓ success  ✗ failed  ⊘ upstream_failed
"""


def test_the_graph_of_a_run(sales, flow):
    ended = flow("graph", "sales", "2026-07-08")
    assert (ended.code, ended.out, ended.err) == (0, OF_RUN, "")
    document = json.loads(flow("graph", "sales", "2026-07-08", "-o", "json").out)
    assert list(document) == [
        *("dag_id", "version", "run_id", "state", "tasks", "edges", "groups"),
    ]
    assert document["tasks"][1] == {
        "task_id": "load.ch",
        "group": "load",
        "operator": "PythonOperator",
        "trigger_rule": "all_success",
        "state": "failed",
        "instances": {},
    }
    assert document["edges"][0] == {"upstream": "extract", "downstream": "load.ch", "label": None}
    assert document["groups"] == [{"group_id": "load", "tooltip": ""}]


def test_the_graph_of_the_latest_version(sales, flow, on_terminal):
    document = json.loads(flow("graph", "sales", "-o", "json").out)
    assert [task["state"] for task in document["tasks"]] == [None] * 4
    dot = flow("graph", "sales", "--dot").out
    assert dot.startswith('digraph "sales" {\n')
    assert json.loads(flow("graph", "sales", "--dot", "-o", "json").out) == {"dot": dot}
    coloured = on_terminal("graph", "sales", "latest", columns=80).out
    assert "\x1b[32m✓" in coloured
    assert "\x1b" not in on_terminal("graph", "sales", "latest", columns=80, NO_COLOR="1").out
