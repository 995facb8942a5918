"""Priorities: the weight of each task after its weight rule.

`absolute` is the task's own weight; `downstream` adds the weights of everything below it, each
task once, `upstream` of everything above it. The result is capped to what an int32 column holds,
so at the cap tasks are equal.

Sets of tasks are integers with a bit per task, and weights are added up bit by bit, so the cost is
one operation on such an integer for each edge, and at most 62 for each task: nothing is walked
twice, however many paths lead to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from flow.graph.index import Graph
from flow.graph.spec import HIGHEST_PRIORITY, LOWEST_PRIORITY

HIGHEST: Final = HIGHEST_PRIORITY
LOWEST: Final = LOWEST_PRIORITY


def priorities(
    graph: Graph, weights: Mapping[str, int], rules: Mapping[str, str]
) -> dict[str, int]:
    """The priority of every task of a graph without cycles, by task id."""
    own = dict(weights)
    sums: dict[str, dict[str, int]] = {"absolute": own}
    used = set(rules.values())
    if "downstream" in used:
        sums["downstream"] = _sums(graph.order[::-1], graph.downstream.__getitem__, own)
    if "upstream" in used:
        sums["upstream"] = _sums(graph.order, graph.upstream, own)
    return {
        task_id: max(LOWEST, min(HIGHEST, sums[rule][task_id])) for task_id, rule in rules.items()
    }


def _sums(
    order: Sequence[str], next_to: Callable[[str], Iterable[str]], weights: Mapping[str, int]
) -> dict[str, int]:
    """For each task its weight and those of all tasks reached by `next_to`, which come first in
    `order`."""
    bit = {task_id: 1 << position for position, task_id in enumerate(order)}
    planes = _planes(bit, weights)
    reached: dict[str, int] = {}
    sums = {}
    for task_id in order:
        members = bit[task_id]
        for neighbour in next_to(task_id):
            members |= reached[neighbour]
        reached[task_id] = members
        sums[task_id] = sum(value * (members & plane).bit_count() for value, plane in planes)
    return sums


def _planes(bit: Mapping[str, int], weights: Mapping[str, int]) -> list[tuple[int, int]]:
    """Powers of two with a sign, and the set of tasks in whose weight each occurs."""
    planes: dict[int, int] = {}
    for task_id, mask in bit.items():
        size, sign = abs(weights[task_id]), 1 if weights[task_id] > 0 else -1
        while size:
            power = size & -size
            planes[sign * power] = planes.get(sign * power, 0) | mask
            size -= power
    return sorted(planes.items())
