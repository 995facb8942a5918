"""`flow compare`: two runs of a DAG side by side."""

from __future__ import annotations

import json
import re

import pytest

from flow.graph import TaskSpec
from flow.ops import running
from flow.ops.run_comparison import outlier_of
from flow.ops.running import Wish
from flow.states import TaskState
from operations_world import World

HASHES = r"\1############\2############"
PAGE = """\
               BEFORE                             AFTER
run            manual__2026-10-01T00:00:00+00:00  manual__2026-10-02T00:00:00+00:00
state          success                            failed
reason         -                                  -
type           manual                             manual
interval from  2026-10-01T00:00:00+00:00          2026-10-02T00:00:00+00:00
started        2026-11-01T00:00:00+00:00          2026-11-01T00:00:00+00:00
took           1 min 0 s                          1 min 0 s
version        1                                  2
graph          ############                       ############
code           c0dec0dec0de                       c0dec0dec0de

GRAPH
  params {"limit": 10, "same": 1} -> {"limit": 20, "same": 1}
  + check
  + load >> check

CONF
  day one -> two

PARAMS
  limit 10 -> 20

TASK     STATE                      TOOK                         TRIES   WORKER
extract  success                    4.0 s -> 48 s  12.0x slower  1       here:7
load     success -> failed          30 s -> 10 s  3.0x faster    1       here:7 -> there:7
check    absent -> upstream_failed  -                            - -> 0  -

load: no such table
"""


@pytest.fixture
def nights(world: World) -> World:
    """DAG `sales`, green on the first of October and, in another version, red on the second."""
    tasks = {
        "extract": TaskSpec(task_id="extract", operator="BashOperator"),
        "load": TaskSpec(task_id="load", operator="BashOperator", upstream=("extract",)),
    }
    world.define("sales", tasks.values(), params={"limit": 10, "same": 1})
    running.run(world.deployment, Wish("sales", date="2026-10-01", conf='{"day": "one"}'))
    world.finish()
    check = TaskSpec(task_id="check", operator="BashOperator", upstream=("load",))
    world.define("sales", [check, *tasks.values()], params={"limit": 20, "same": 1})
    running.run(world.deployment, Wish("sales", date="2026-10-02", conf='{"day": "two"}'))
    world.finish({"load": TaskState.FAILED})
    world.conn.execute(
        "update run set started_at = timestamptz '2026-11-01 00:00+00',"
        " ended_at = timestamptz '2026-11-01 00:01+00'"
    )
    for day, task_id, seconds, host in (
        (1, "extract", 4, "here"),
        (1, "load", 30, "here"),
        (2, "extract", 48, "here"),
        (2, "load", 10, "there"),
    ):
        world.conn.execute(
            "update try_history t set host = %s,"
            " reason = case when t.state = 'failed' then 'no such table' end,"
            " started_at = timestamptz '2026-11-01 00:00+00',"
            " ended_at = timestamptz '2026-11-01 00:00+00' + %s * interval '1 second'"
            " from run r where r.run_key = t.run_key and t.task_id = %s and r.logical_date = %s",
            (host, seconds, task_id, f"2026-10-0{day}T00:00:00Z"),
        )
    world.conn.execute("update process set pid = 7")
    return world


def test_the_last_green_and_the_first_red(nights, flow):
    ended = flow("compare", "sales")
    assert (ended.code, ended.err) == (0, "")
    assert re.sub(r"(?m)^(graph +)[0-9a-f]{12}( +)[0-9a-f]{12}$", HASHES, ended.out) == PAGE


def test_every_field_has_its_place(nights, flow):
    document = json.loads(flow("compare", "sales", "2026-10-01", "2026-10-02", "-o", "json").out)
    assert list(document) == [
        *("dag_id", "before", "after", "graph", "graph_changed", "code_changed", "conf", "params"),
        "tasks",
    ]
    assert document["params"] == [
        {"field": "day", "before": "one", "after": "two"},
        {"field": "limit", "before": 10, "after": 20},
    ]
    assert document["after"]["duration_s"] == 60.0
    extract, load, check = document["tasks"]
    assert (extract["ratio"], extract["outlier"], extract["differs"]) == (12.0, "slower", True)
    assert load["after"] == {
        "state": "failed",
        "try_number": 1,
        "started_at": "2026-11-01T00:00:00Z",
        "ended_at": "2026-11-01T00:00:10Z",
        "duration_s": 10.0,
        "worker": "there:7",
        "code_hash": None,
        "reason": "no such table",
    }
    assert (check["before"], check["after"]["state"]) == (None, "upstream_failed")


@pytest.mark.parametrize("columns", [80, 120])
def test_the_tasks_stand_side_by_side_on_a_terminal(nights, on_terminal, columns):
    lines = on_terminal("compare", "sales", columns=columns, NO_COLOR="1").out.splitlines()
    assert max(map(len, lines)) <= columns
    assert ["TASK", "STATE", "TOOK", "TRIES", "WORKER"] in [line.split() for line in lines]


def test_without_a_pair_it_says_what_is_missing(sales, world, flow):
    never = flow("compare", "sales")
    assert never.code == 3
    assert "no run of DAG 'sales' has failed after its last success" in never.err
    assert "the success before it: flow compare sales RUN; `flow runs list sales" in never.err
    world.define("fresh")
    assert "has succeeded" in flow("compare", "fresh").err
    alone = flow("compare", "sales", "2026-07-08", "-o", "json")
    assert json.loads(alone.out)["before"]["run_id"] == "manual__2026-07-07T00:00:00+00:00"


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (4.0, 48.0, "slower"),
        (48.0, 4.0, "faster"),
        (0.1, 0.9, None),
        (10.0, 19.0, None),
        (None, 5.0, None),
        (0.0, 5.0, None),
    ],
)
def test_outliers_are_twice_or_half_and_noticeable(before, after, kind):
    assert outlier_of(before, after)[1] == kind
