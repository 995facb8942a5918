"""DAGs as the reference has them, the table of trigger rules, and how to draw DAGs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from flow.graph import TaskSpec, TriggerRule

POOLS = ("default_pool", "narrow")


@dataclass(frozen=True)
class Node:
    """A task as its DAG has it. `works`: it has code to run; `asks_past`: depends_on_past."""

    above: tuple[str, ...] = ()
    rule: str = "all_success"
    retries: int = 0
    pool: str = "default_pool"
    works: bool = True
    asks_past: bool = False


@dataclass(frozen=True)
class Dag:
    """A DAG; `nodes` stand upstream first. Of a scheduled one the interval runs are a chain."""

    nodes: Mapping[str, Node]
    intervals: int = 0
    """How many intervals its schedule has."""
    max_active_runs: int = 16
    max_active_tasks: int = 16
    concurrency: int | None = None

    @property
    def leaves(self) -> list[str]:
        """Tasks that nothing follows."""
        above = {id for node in self.nodes.values() for id in node.above}
        return [id for id in self.nodes if id not in above]

    def below(self, task_id: str) -> set[str]:
        """A task and all that follows it."""
        found = {task_id}
        for id, node in self.nodes.items():
            if found & set(node.above):
                found.add(id)
        return found


def outlook(rule: str, above: Collection[str]) -> str:
    """What a trigger rule says, as in Airflow's `TriggerRuleDep`: wait, run, or how it ends."""
    up = len(above)
    if up == 0:
        return "run"
    count = list(above).count
    s, k, f, u = (count(state) for state in ("success", "skipped", "failed", "upstream_failed"))
    all_done = s + k + f + u == up
    ways: dict[str, list[tuple[bool, str]]] = {
        "all_success": [
            (f + u > 0, "upstream_failed"), (k > 0, "skipped"), (s == up, "run"),
        ],
        "all_failed": [(s + k > 0, "skipped"), (f + u == up, "run")],
        "all_done": [(all_done, "run")],
        "all_done_min_one_success": [
            (k > 0, "skipped"), (all_done and s >= 1, "run"), (all_done, "upstream_failed"),
        ],
        "all_done_setup_success": [(all_done, "run")],
        "one_success": [
            (s >= 1, "run"), (k == up, "skipped"), (all_done, "upstream_failed"),
        ],
        "one_failed": [(f + u >= 1, "run"), (all_done, "skipped")],
        "one_done": [(s + f >= 1, "run"), (all_done, "skipped")],
        "none_failed": [(f + u > 0, "upstream_failed"), (s + k == up, "run")],
        "none_failed_min_one_success": [
            (f + u > 0, "upstream_failed"), (s + k == up and s >= 1, "run"), (k == up, "skipped"),
        ],
        "none_skipped": [(k > 0, "skipped"), (all_done, "run")],
        "all_skipped": [(s + f + u > 0, "skipped"), (k == up, "run")],
        "always": [(True, "run")],
    }  # fmt: skip
    return next((way for holds, way in ways[rule] if holds), "wait")


@st.composite
def dags(draw: st.DrawFn, *, intervals: int) -> Dag:
    """A DAG of up to five tasks; one with a schedule may depend on its past."""
    nodes: dict[str, Node] = {}
    past = draw(st.booleans()) if intervals else False
    for number in range(draw(st.integers(1, 5))):
        ids = list(nodes)
        above = draw(st.lists(st.sampled_from(ids), max_size=2, unique=True)) if ids else []
        rules = st.sampled_from([rule.value for rule in TriggerRule])
        nodes[f"t{number}"] = Node(
            above=tuple(sorted(above)),
            rule=draw(st.one_of(st.just("all_success"), rules)),
            retries=draw(st.integers(0, 2)),
            pool=draw(st.sampled_from(POOLS)),
            works=draw(st.integers(0, 5)) > 0,
            asks_past=past and draw(st.booleans()),
        )
    return Dag(
        nodes,
        intervals,
        max_active_runs=draw(st.integers(1, 2)),
        max_active_tasks=draw(st.sampled_from((1, 2, 16))),
        concurrency=draw(st.sampled_from((None, None, 1, 3))),
    )


def spec(task_id: str, node: Node) -> TaskSpec:
    return TaskSpec(
        task_id=task_id,
        operator="x",
        upstream=node.above,
        trigger_rule=TriggerRule(node.rule),
        retries=node.retries,
        retry_delay=0.0,
        pool=node.pool,
        runs_code=node.works,
        depends_on_past=node.asks_past,
    )
