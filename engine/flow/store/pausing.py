"""Pausing DAGs and letting them go on. The callers hold the DAGs' rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flow.store.connect import Conn

_SET = """
update dag set paused = %(paused)s, pause_reason = %(reason)s,
  unpaused_at = case when %(paused)s then unpaused_at else clock_timestamp() end
where dag_id = any(%(dag_ids)s::text[])
"""

# The last finished runs by date, of those that have ended since the DAG was last unpaused; index
# run_by_date. A run that is not over neither counts nor ends the row.
_FAILED_IN_A_ROW = """
select n.dag_id
from unnest(%(dag_ids)s::text[], %(counts)s::int[]) as n(dag_id, count)
join dag d on d.dag_id = n.dag_id,
lateral (select count(*) as failed
  from (select r.state from run r
    where r.dag_id = n.dag_id and r.state in ('success', 'failed')
      and r.ended_at > coalesce(d.unpaused_at, '-infinity')
    order by r.logical_date desc, r.run_key desc limit n.count) as last
  where last.state = 'failed') as found
where found.failed = n.count
"""

# Index run_unfinished.
_QUEUED = """
select count(*) from run
where dag_id = %(dag_id)s and state = 'queued' and not paused and backfill_id is null
"""


def set_paused(
    conn: Conn, dag_ids: Sequence[str], *, paused: bool, reason: str | None = None
) -> None:
    """Let no new run of these DAGs be created or started, or let them go on.

    `reason`: why nobody but Flow itself has paused them.
    """
    conn.execute(_SET, {"dag_ids": list(dag_ids), "paused": paused, "reason": reason})


def failed_in_a_row(conn: Conn, limits: Mapping[str, int]) -> list[str]:
    """Those DAGs whose last runs all failed, as many as `limits` says (1 or more each)."""
    if not limits:
        return []
    values = {"dag_ids": list(limits), "counts": list(limits.values())}
    return [row[0] for row in conn.execute(_FAILED_IN_A_ROW, values)]


def queued_runs(conn: Conn, dag_id: str) -> int:
    """How many runs of a DAG wait to be started."""
    row = conn.execute(_QUEUED, {"dag_id": dag_id}).fetchone()
    return row[0] if row else 0
