"""Pools as `flow pools show` and the warnings of DAGs have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.errors import NotFound
from flow.graph import TaskSpec
from flow.ops import dag_warnings, dags, pools, running
from flow.ops.running import Wish
from operations_world import World


def wide(count: int, **fields) -> list[TaskSpec]:
    return [TaskSpec(task_id=f"t{n}", operator="X", **fields) for n in range(count)]


def test_who_holds_a_pool_and_who_waits(world: World) -> None:
    pools.set_(world.deployment, "small", 3)
    world.define("first", wide(2, pool="small"))
    world.define("second", wide(2, pool="small", pool_slots=2), file="/dags/two.py")
    for dag_id in ("first", "second"):
        running.run(world.deployment, Wish(dag_id, run_id="r"))
        world.schedule()
    use = pools.show(world.deployment, "small")
    assert (use.pool.queued, use.pool.scheduled, use.pool.open) == (2, 4, 1)
    [holder] = use.holders
    assert (holder.dag_id, holder.tasks, holder.slots, holder.oldest) == ("first", 2, 2, "r/t0")
    [waiting] = use.waiting
    assert (waiting.dag_id, waiting.tasks, waiting.slots) == ("second", 2, 4)
    assert waiting.reason == "pool small: 2 of 3 slots used, and it needs 2"


def test_a_pool_that_does_not_fit_is_a_warning_until_it_does(world: World) -> None:
    world.define("sales", [*wide(1, pool="nope"), TaskSpec(task_id="u", operator="X")])
    world.define("stock", wide(1, pool="small", pool_slots=5), file="/dags/two.py")
    assert [one[:2] for one in pools.warnings(world.conn)] == [
        ("sales", "/dags/one.py"), ("stock", "/dags/two.py"),
    ]  # fmt: skip
    assert dags.show(world.deployment, "sales").warnings == [
        "tasks in pool nope: there is no pool nope; make it: flow pools set nope N"
    ]
    found = [
        (one.file, one.dag_id, one.warning) for one in dag_warnings.page(world.deployment).rows
    ]
    assert found == [
        (
            "/dags/one.py",
            "sales",
            "tasks in pool nope: there is no pool nope; make it: flow pools set nope N",
        ),
        (
            "/dags/two.py",
            "stock",
            "tasks in pool small: there is no pool small; make it: flow pools set small N",
        ),
    ]
    (only,) = dag_warnings.page(world.deployment, Path("two.py")).rows
    assert only.dag_id == "stock"
    pools.set_(world.deployment, "nope", -1)
    pools.set_(world.deployment, "small", 4)
    assert dags.show(world.deployment, "sales").warnings == []
    [warning] = dags.show(world.deployment, "stock").warnings
    assert "needs 5 of 4 slots" in warning
    pools.set_(world.deployment, "small", 5)
    assert pools.warnings(world.conn) == []


def test_an_unknown_pool_names_the_nearest(world: World) -> None:
    with pytest.raises(NotFound, match="default_pol"):
        pools.show(world.deployment, "default_pol")
