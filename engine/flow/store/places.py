"""The places of waiting tasks in their lines (`flow.decide.turns`), found while they are written.

`PLACES` is an expression of the statement that writes tasks: the place of the first task of each
flow, that is of each DAG in each line it waits in, as an array. What it reads are the ends of three
indexes, once for each line and for each flow. It takes no lock: of two schedulers that place tasks
of one DAG in one moment neither sees the other's, so for once the two stand beside each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from flow.decide import offsets
from flow.store import arrays

PLACES: Final = (
    "find_places(%(line_pool)s::text[], %(line_executor)s::text[], %(line_queue)s::text[], "
    "%(line_priority)s::int[], %(flow_line)s::int[], %(flow_dag)s::text[], "
    "%(flow_backfill)s::boolean[], %(flow_alone)s::boolean[], %(flow_stride)s::int[])"
)


class Waiting(NamedTuple):
    """What gives a task its place: the line it waits in, and whose turn it is there.

    `pool` names the pool for whose slots it waits; None: it is queued and waits for a worker.
    `stride` is what it costs its DAG; `alone`: nothing else of its DAG is known to wait.
    """

    dag_id: str
    pool: str | None
    executor: str
    queue: str
    priority: int
    stride: int
    backfill: bool = False
    alone: bool = False


class Placed(NamedTuple):
    """Tasks in their flows: parameters of `PLACES`, and of each task two columns.

    `flow` is the number of its flow, None for a task that waits in no line, and `offset` how far it
    stands behind the place of its flow.
    """

    parameters: dict[str, str]
    flow: list[int | None]
    offset: list[int]


def place(tasks: Iterable[Waiting | None]) -> Placed:
    """Sort tasks into flows, in their order; None is a task that waits in no line."""
    lines: dict[tuple[Any, ...], int] = {}
    flows: dict[tuple[int, str, bool], int] = {}
    known: dict[Waiting, int] = {}
    first: list[Waiting] = []
    numbers: list[int | None] = []
    strides: list[tuple[int, int]] = []
    for one in tasks:
        if one is None:
            numbers.append(None)
            strides.append((0, 0))
            continue
        flow = known.get(one)
        if flow is None:
            known[one] = flow = _flow(one, lines, flows)
            if flow > len(first):
                first.append(one)
        numbers.append(flow)
        strides.append((flow, one.stride))
    parameters = {
        "line_pool": arrays.texts([key[0] for key in lines]),
        "line_executor": arrays.texts([key[1] for key in lines]),
        "line_queue": arrays.texts([key[2] for key in lines]),
        "line_priority": arrays.numbers([key[3] for key in lines]),
        "flow_line": arrays.numbers([line for line, _, _ in flows]),
        "flow_dag": arrays.texts([dag_id for _, dag_id, _ in flows]),
        "flow_backfill": arrays.flags([backfill for _, _, backfill in flows]),
        "flow_alone": arrays.flags([one.alone for one in first]),
        "flow_stride": arrays.numbers([one.stride for one in first]),
    }
    return Placed(parameters, numbers, offsets(strides))


def _flow(
    one: Waiting, lines: dict[tuple[Any, ...], int], flows: dict[tuple[int, str, bool], int]
) -> int:
    """The number of a task's flow; a new line or flow gets the next number."""
    dag_id, pool, executor, queue, priority = one[:5]
    key = (pool, None, None, priority) if pool else (None, executor, queue, priority)
    line = lines.setdefault(key, len(lines) + 1)
    return flows.setdefault((line, dag_id, one.backfill), len(flows) + 1)
