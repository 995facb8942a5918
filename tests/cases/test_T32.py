"""T32: whatever weights a DAG is given, its priorities fit, keep their order, and hurt nobody.

The documented rule: a task's weight after its weight rule, capped to what an int32 holds; among
tasks that are equal then, DAGs take turns. A weight that is no whole number is an import error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.steady import check_log
from waiting import wait_until

BREAKS = [
    Break(
        "engine/flow/authoring/weights.py",
        "        task_id: max(LOWEST, min(HIGHEST, sums[rule][task_id])) for",
        "        task_id: sums[rule][task_id] for",
    ),
    Break(
        "engine/flow/store/candidates.py",
        "order by t.priority desc, t.turn, t.run_key, t.task_id, t.map_path\n",
        "order by t.turn, t.run_key, t.task_id, t.map_path\n",
    ),
]

HEAVY = 2**31 - 1
DEPTH = 5000
DAG = f"""
    import os
    from flow import DAG, chain, get_current_context, task
    from flow.operators.empty import EmptyOperator
    from marks import mark, stay

    def started():
        context = get_current_context()
        mark(context["dag"].dag_id + "." + context["ti"].task_id, "order")

    with DAG("blocks", schedule=None):
        @task(pool="one")
        def block():
            stay(600, "block", until=lambda: os.path.exists(os.environ["CASE_MARKS"] + "/go"))

        block()

    for rule in ("downstream", "upstream", "absolute"):
        with DAG("heavy_" + rule, schedule=None):
            heavy = dict(pool="one", priority_weight={HEAVY}, weight_rule=rule)
            t1 = task(task_id="t1", **heavy)(started)()
            t2 = task(task_id="t2", **heavy)(started)()
            t1 >> t2

    with DAG("deep", schedule=None, default_args={{"priority_weight": 10**6}}):
        tasks = [
            EmptyOperator(task_id="e" + str(place)) if place % 1250
            else task(task_id="t" + str(place // 1250), pool="one")(started)()
            for place in range({DEPTH})
        ]
        chain(*tasks)

    for name, weight in (("negative", -(2**40)), ("healthy", 1), ("light", 7)):
        with DAG(name, schedule=None):
            task(task_id="t", pool="one", priority_weight=weight)(started)()
    """
FLOAT = """
    from flow import DAG
    from flow.operators.empty import EmptyOperator

    with DAG("float", schedule=None):
        EmptyOperator(task_id="t", priority_weight=1.5)
    """


@pytest.fixture
def running() -> Iterator[Deployment]:
    """A deployment with a pool of one slot, whose roles run."""
    with deployed() as deployment:
        assert deployment.flow("db", "migrate").code == 0
        assert deployment.flow("pools", "set", "one", "1").code == 0
        deployment.write("weights.py", DAG)
        deployment.write("float.py", FLOAT)
        deployment.parse()
        deployment.start("schedule")
        deployment.start("work")
        yield deployment


def test_weights_of_every_kind_in_a_pool_of_one_slot(running: Deployment) -> None:
    priorities = {
        (dag_id, one["task_id"]): one["priority"]
        for dag_id in ("heavy_downstream", "heavy_upstream", "heavy_absolute", "deep", "negative")
        for one in running.ask("dags", "show", dag_id)["tasks"]
    }
    for rule in ("downstream", "upstream", "absolute"):
        assert priorities[f"heavy_{rule}", "t1"] == priorities[f"heavy_{rule}", "t2"] == HEAVY
    assert [priorities["deep", f"t{n}"] for n in range(4)] == [
        HEAVY, HEAVY, HEAVY, 1250 * 10**6,
    ]  # fmt: skip
    assert priorities["deep", "e4999"] == 10**6
    assert priorities["negative", "t"] == -(2**31)
    [broken] = running.ask("dags", "errors")
    assert broken["file"].endswith("float.py")
    assert re.search("priority_weight must be a whole number, not 1.5", broken["error"])

    runs = {"blocks": running.run("blocks")}
    wait_until(lambda: running.marks("block"), "the slot to be taken")
    names = ("negative", "healthy", "light", "deep", "heavy_downstream", "heavy_upstream",
             "heavy_absolute")  # fmt: skip
    runs |= {name: running.run(name) for name in names}

    def ready() -> bool:
        pools = {pool["name"]: pool for pool in running.ask("pools", "list")}
        return bool(pools["one"]["scheduled"] == len(names))

    wait_until(ready, "a task of each DAG to be ready")
    (running.folder / "m" / "go").touch()
    for name, run_id in runs.items():
        assert running.wait_for_run(name, run_id, seconds=180)["state"] == "success"

    order = [mark.event for mark in running.marks("order")]
    capped = order[:4]
    # At the cap all are equal: each DAG has its turn before one has its second.
    assert sorted(capped) == [
        "deep.t0", "heavy_absolute.t1", "heavy_downstream.t1", "heavy_upstream.t1",
    ]  # fmt: skip
    assert order[-4:] == ["deep.t3", "light.t", "healthy.t", "negative.t"]
    assert len(order) == 13
    for role in running.roles:
        check_log(role)
