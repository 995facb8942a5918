"""T31: a pool's size means the same whatever it is: shrunk, 0, -1, too small, or not there.

Nothing is decided by a negative number of open slots, a pool that has no room keeps only its own
tasks waiting, and what can never start says so: among the warnings, on the DAG, where the pool is
shown, and when the task is asked why it waits.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.steady import check_log
from waiting import wait_until

NEEDS: list[str] = []

BREAKS = [
    Break(
        "engine/flow/decide/admit.py",
        "        if one.slots and self.pools.get(one.pool, one.slots) < one.slots:\n",
        "        if one.slots and self.pools.get(one.pool, 1) < 1:\n",
    ),
    Break(
        "engine/flow/store/pools.py",
        "greatest(0, slots - running - queued - kept)::int",
        "(slots - running - queued - kept)::int",
    ),
    Break(
        "engine/flow/ops/pools.py",
        "    if slots < UNLIMITED:\n",
        "    if slots < -99:\n",
    ),
    Break(
        "engine/flow/store/pools.py",
        "  and (p.name is null or p.slots between 0 and w.slots::int - 1)\n",
        "  and p.slots between 0 and w.slots::int - 1\n",
    ),
    # A pool that is not there is taken for one without limit.
    Break(
        "engine/flow/ops/limits.py",
        "    if size == UNLIMITED:\n",
        "    if size is None or size == UNLIMITED:\n",
    ),
    Break(
        "engine/flow/ops/dag_warnings.py",
        "            *of_pools.get(one.file, []),\n",
        "",
    ),
]

DAG = """
    import os
    from flow import DAG, task
    from marks import mark, stay

    def over():
        return os.path.exists(os.path.join(os.environ["CASE_MARKS"], "over"))

    with DAG("fills", schedule=None):
        for number in range(4):
            @task(task_id="three_" + str(number), pool="a", pool_slots=3)
            def three():
                stay(600, "a", until=over)

            three()

    with DAG("goes_on", schedule=None):
        before = None
        for number in range(3):
            @task(task_id="step_" + str(number), pool="b")
            def step():
                mark("end", "b")

            after = step()
            if before is not None:
                before >> after
            before = after

    for name, pool, slots in (
        ("too_much", "a", 9), ("nowhere", "nope", 1),
        ("nothing", "zero", 1), ("free", "endless", 5),
    ):
        with DAG(name, schedule=None):
            @task(pool=pool, pool_slots=slots)
            def only(name):
                mark("end", name)

            only(name)
    """


@pytest.fixture
def running() -> Iterator[Deployment]:
    """A deployment with pools of every kind, whose roles run."""
    with deployed() as deployment:
        assert deployment.flow("db", "migrate").code == 0
        for name, slots in (("a", "6"), ("b", "1"), ("zero", "0"), ("endless", "-1")):
            assert deployment.flow("pools", "set", name, "--", slots).code == 0
        deployment.write("pools.py", DAG)
        deployment.parse()
        deployment.start("schedule")
        deployment.start("work")
        yield deployment


def pool(deployment: Deployment, name: str) -> dict[str, object]:
    """A pool as `flow pools list` has it."""
    found = {one["name"]: one for one in deployment.ask("pools", "list")}
    return dict(found[name])


def reason(deployment: Deployment, name: str, dag_id: str) -> str:
    """Why tasks of a DAG wait for a pool."""
    waiting = deployment.ask("pools", "show", name)["waiting"]
    return str({one["dag_id"]: one["reason"] for one in waiting}[dag_id])


def why(deployment: Deployment, dag_id: str, run_id: str, task: str) -> list[str]:
    """What a task says of itself, beside its place in a pool."""
    said = deployment.ask("why", dag_id, run_id, task)["reasons"]
    return [str(one["text"]) for one in said if one["code"] != "pool_holder"]


def test_sizes_of_every_kind(running: Deployment) -> None:
    stuck = {name: running.run(name) for name in ("too_much", "nowhere", "nothing")}
    fills = running.run("fills")
    wait_until(lambda: len(running.marks("a")) >= 2, "two tasks of three slots to start")
    wait_until(lambda: pool(running, "a")["running"] == 6, "the pool to be full")
    assert pool(running, "a")["open"] == 0
    waits = next(
        name for name, state in running.states("fills", fills).items() if state == "scheduled"
    )
    assert why(running, "fills", fills, waits)[0] == "pool a: 6 of 6 slots used, and it needs 3"

    # Shrunk below its use: never negative, and other pools do not notice.
    assert running.flow("pools", "set", "a", "2").code == 0
    assert (pool(running, "a")["running"], pool(running, "a")["open"]) == (6, 0)
    assert running.run_to_end("goes_on")["state"] == "success"
    assert running.run_to_end("free")["state"] == "success"

    # It empties, and then what needs 3 of 2 does not start, and says so.
    (running.folder / "m" / "over").touch()
    wait_until(lambda: pool(running, "a")["running"] == 0, "the pool to empty")
    assert running.run_to_end("goes_on")["state"] == "success"
    assert len({mark.pid for mark in running.marks("a")}) == 2
    assert why(running, "fills", fills, waits) == [
        "pool a: it needs 3 of 2 slots: it can never start"
    ]
    no_pool = "there is no pool nope; make it: flow pools set nope N"
    assert why(running, "nowhere", stuck["nowhere"], "only") == [no_pool]
    assert why(running, "nothing", stuck["nothing"], "only") == [
        "pool zero has 0 slots: nothing starts"
    ]
    assert "needs 3 of 2 slots" in reason(running, "a", "fills")
    assert "needs 9 of 2 slots" in reason(running, "a", "too_much")
    assert "0 slots" in reason(running, "zero", "nothing")

    # A size that fits lets them go; the one that asks for more than there is stays behind.
    assert running.flow("pools", "set", "a", "3").code == 0
    assert running.wait_for_run("fills", fills)["state"] == "success"
    for name, run_id in stuck.items():
        assert running.states(name, run_id) == {"only": "scheduled"}
        assert running.marks(name) == []

    for name, said in (
        ("too_much", "needs 9 of 3 slots"),
        ("nowhere", "no pool nope"),
        ("nothing", "0 slots"),
    ):
        warnings = running.ask("dags", "show", name)["warnings"]
        assert [said in warning for warning in warnings] == [True], (name, warnings)
    assert running.ask("dags", "show", "fills")["warnings"] == []
    warned = {one["dag_id"]: one["warning"] for one in running.ask("dags", "warnings")}
    assert warned.keys() == {"too_much", "nowhere", "nothing"}
    assert no_pool in warned["nowhere"]

    refused = running.flow("pools", "set", "x", "--", "-5")
    assert refused.code == 2
    assert "-5" in refused.err
    assert "x" not in {one["name"] for one in running.ask("pools", "list")}

    # Made, and opened: everything ends.
    assert running.flow("pools", "set", "nope", "1").code == 0
    assert running.flow("pools", "set", "zero", "--", "-1").code == 0
    assert running.flow("pools", "set", "a", "9").code == 0
    for name, run_id in stuck.items():
        assert running.wait_for_run(name, run_id)["state"] == "success"
    for role in running.roles:
        check_log(role)
