"""Pools as `flow pools show` and the warnings of DAGs have them."""

from __future__ import annotations

import pytest

from flow.errors import NotFound
from flow.graph import TaskSpec
from flow.ops import dags, pools, running
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
    assert waiting.reason == "needs 2, and 1 of 3 slots are open"


@pytest.mark.parametrize(
    ("size", "free", "slots", "said"),
    [
        (None, None, 1, "there is no pool p; make it: flow pools set p N"),
        (0, 0, 1, "pool p has 0 slots: nothing starts"),
        (2, 2, 3, "needs 3 of 2 slots: it can never start"),
        (4, 1, 3, "needs 3, and 1 of 4 slots are open"),
        (4, 3, 3, "held back by another limit, or by those who come first"),
        (-1, None, 3, "held back by another limit, or by those who come first"),
    ],
)
def test_why_a_task_waits_for_a_pool(
    size: int | None, free: int | None, slots: int, said: str
) -> None:
    assert pools.why_waiting("p", size, free, slots) == said


def test_a_pool_that_does_not_fit_is_a_warning_until_it_does(world: World) -> None:
    world.define("sales", [*wide(1, pool="nope"), TaskSpec(task_id="u", operator="X")])
    world.define("stock", wide(1, pool="small", pool_slots=5), file="/dags/two.py")
    assert [one[:2] for one in pools.warnings(world.conn)] == [
        ("sales", "/dags/one.py"), ("stock", "/dags/two.py"),
    ]  # fmt: skip
    assert dags.show(world.deployment, "sales").warnings == [
        "tasks in pool nope: there is no pool nope; make it: flow pools set nope N"
    ]
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
