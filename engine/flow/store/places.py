"""The places of waiting tasks in their lines (`flow.decide.turns`), found while they are written.

`PLACES` is the beginning of a statement that writes tasks: it gives a relation `flow(number,
place)`, the place of the first task of each flow, that is of each DAG in each line it waits in.
What it reads are the ends of three indexes, once for each line and for each flow. It takes no lock:
of two schedulers that place tasks of one DAG in one moment neither sees the other's, so for once
the two stand beside each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from flow.decide import offsets
from flow.store import arrays


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


# A line's clock. For a queue it is the first place in it (index task_queue): workers take whatever
# stands first. In a pool what stands first may be kept waiting by another limit, so it is the last
# place of what occupies the pool (index task_pool), and the first one only when nothing does.
# Raised tasks stand before all others, at negative places, and say nothing of a clock.
#
# A flow's last place is looked up by run (indexes run_unfinished and task_unfinished).
PLACES = """
line as materialized (
  select l.number, l.pool, l.executor, l.queue, l.priority, case when l.pool is null then (
      select t.rank from task_hot t where t.state = 'queued' and t.executor = l.executor
        and t.queue = l.queue and t.priority = l.priority and t.rank >= 0 order by t.rank limit 1)
    else coalesce(greatest(
      (select t.turn from task_hot t where t.pool = l.pool and t.state = 'running'
        and t.priority = l.priority and t.turn >= 0 order by t.turn desc limit 1),
      (select t.turn from task_hot t where t.pool = l.pool and t.state = 'queued'
        and t.priority = l.priority and t.turn >= 0 order by t.turn desc limit 1)),
      (select t.turn from task_hot t where t.pool = l.pool and t.state = 'scheduled'
        and t.priority = l.priority and t.turn >= 0 order by t.turn limit 1)) end as clock
  from unnest(%(line_pool)s::text[], %(line_executor)s::text[], %(line_queue)s::text[],
      %(line_priority)s::int[]) with ordinality as l(pool, executor, queue, priority, number)),
flow as materialized (
  select f.number, greatest(l.clock, case
    when f.alone then null
    when l.pool is null then (
      select max(w.rank) from run r, lateral (
        select t.rank from task_hot t where t.dag_id = r.dag_id and t.run_key = r.run_key
          and t.state = 'queued' and t.priority = l.priority and t.queue = l.queue
          and t.executor = l.executor and t.rank >= 0 order by t.rank desc limit 1) as w
      where r.dag_id = f.dag_id and r.state in ('queued', 'running')
        and (r.backfill_id is not null) = f.backfill)
    else (
      select max(w.rank) from run r, lateral (
        select t.rank from task_hot t where t.dag_id = r.dag_id and t.run_key = r.run_key
          and t.state = 'scheduled' and t.priority = l.priority and t.pool = l.pool
          and t.rank >= 0 order by t.rank desc limit 1) as w
      where r.dag_id = f.dag_id and r.state in ('queued', 'running')
        and (r.backfill_id is not null) = f.backfill)
    end + f.stride, 0) as place
  from unnest(%(flow_line)s::int[], %(flow_dag)s::text[], %(flow_backfill)s::bool[],
      %(flow_alone)s::bool[], %(flow_stride)s::int[])
    with ordinality as f(line, dag_id, backfill, alone, stride, number)
  join line l on l.number = f.line)"""


class Placed(NamedTuple):
    """Tasks in their flows: parameters of `PLACES`, and of each task two columns.

    `flow` is NULL for a task that waits in no line.
    """

    parameters: dict[str, Any]
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
