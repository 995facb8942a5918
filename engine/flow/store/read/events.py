"""What happened to runs, tries, processes and files, and who changed what: put together from the
times that their rows have. Nothing is written for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from flow.store.connect import Conn
from flow.store.read.audit import OF_DAG


class Event(NamedTuple):
    """One thing that happened. What it is not about is None; `kind` of an audit entry is its verb.

    `state` is what something became, `who` a user, or `host:pid` of a process.
    """

    at: datetime
    kind: str
    dag_id: str | None
    run_id: str | None
    task_id: str | None
    map_index: list[int] | None
    try_number: int | None
    state: str | None
    who: str | None
    detail: str | None


_ORDER: Final = ("run_queued", "run_started", "try_started", "try_ended", "run_ended")
"""Of one moment this comes before that; who asked for something comes first."""

# Runs that have not ended (index run_unfinished) or ended since then (index run_ended), and the
# tries of just those, by the prefix of their primary keys: `offset 0` keeps the planner, which does
# not know how few runs these are, from reading all tries. What is not about a run is left out when
# a DAG is named; what was changed in a DAG is read by audit_target, of everything by audit_at.
# A run that was marked after its end has the state that it was marked with; what it ended with is
# what the first mark since then found, by audit_target. Its reason of then is overwritten.
_HAPPENED = f"""
with recent as materialized (
  select run_key, dag_id, run_id, run_type, state, reason, queued_at, started_at, ended_at from run
  where state in ('queued', 'running')
    and (%(dag_id)s::text is null or dag_id = %(dag_id)s)
    and (%(run_id)s::text is null or run_id = %(run_id)s)
  union all
  select run_key, dag_id, run_id, run_type, coalesce(m.found, r.state),
    case when m.found is null then reason end, queued_at, started_at, ended_at
  from run r left join lateral (
    select coalesce(a.before ->> 'run', a.before ->> 'state') as found from audit a
    where r.reason_code = 'marked' and a.at > r.ended_at
      and (a.verb = 'runs.mark' and a.target collate "C" = r.dag_id || '/' || r.run_id
        or a.verb = 'tasks.mark' and a.before ? 'run'
          and a.target collate "C" >= r.dag_id || '/' || r.run_id || '/'
          and a.target collate "C" < r.dag_id || '/' || r.run_id || '0')
      and coalesce(a.before ->> 'run', a.before ->> 'state') in ('success', 'failed')
    order by a.at limit 1) m on true
  where state in ('success', 'failed') and ended_at >= %(since)s
    and (%(dag_id)s::text is null or dag_id = %(dag_id)s)
    and (%(run_id)s::text is null or run_id = %(run_id)s)),
tries as materialized (
  select r.dag_id, r.run_id, y.* from recent r, lateral (select * from try_hot y
    where y.run_key = r.run_key and (y.started_at >= %(since)s or y.ended_at >= %(since)s)
    offset 0) as y
  where r.ended_at is null
  union all
  select r.dag_id, r.run_id, y.* from recent r, lateral (select * from try_history y
    where y.run_key = r.run_key and (y.started_at >= %(since)s or y.ended_at >= %(since)s)
    offset 0) as y
  where r.ended_at is not null),
happened as (
  select queued_at as at, 'run_queued' as kind, dag_id, run_id, null as task_id,
    null::int[] as map_index, null::int as try_number, 'queued' as state, null as who,
    run_type as detail
  from recent
  union all
  select started_at, 'run_started', dag_id, run_id, null, null, null, 'running', null, null
  from recent
  union all
  select ended_at, 'run_ended', dag_id, run_id, null, null, null, state, null, reason from recent
  union all
  select started_at, 'try_started', dag_id, run_id, task_id, map_path, try_number, 'running',
    host || coalesce(':' || pid, ''), null
  from tries
  union all
  select ended_at, 'try_ended', dag_id, run_id, task_id, map_path, try_number, state,
    host || coalesce(':' || pid, ''), reason
  from tries
  union all
  select at, verb, split_part(target, '/', 1),
    case when split_part(verb, '.', 1) not in ('backfill', 'backfills')
      then nullif(split_part(target, '/', 2), '') end,
    nullif(split_part(target, '/', 3), ''), null, null,
    after ->> 'state', os_user || '@' || host, coalesce('run: ' || (after ->> 'run'), target)
  from audit
  where at >= %(since)s and split_part(verb, '.', 1) not in ('vars', 'conns', 'pools')
    and (%(dag_id)s::text is null or {OF_DAG})
    and (%(run_id)s::text is null or split_part(target, '/', 2) = %(run_id)s)
  union all
  select at, verb, null, null, null, null, null, null, os_user || '@' || host, target
  from audit
  where %(dag_id)s::text is null and at >= %(since)s
    and split_part(verb, '.', 1) in ('vars', 'conns', 'pools')
  union all
  select started_at, 'process_started', null, null, null, null, null, role, host || ':' || pid,
    'version ' || version
  from process where %(dag_id)s::text is null
  union all
  select ended_at, 'process_ended', null, null, null, null, null, role, host || ':' || pid,
    ended_reason
  from process where %(dag_id)s::text is null
  union all
  select error_since, 'import_error', null, null, null, null, null, 'failed', null,
    path || ': ' || error
  from dag_file where %(dag_id)s::text is null)
select at, kind, dag_id, run_id, task_id, map_index, try_number, state, who, detail
from happened where at >= %(since)s
"""
_NEWEST = f"""{_HAPPENED}
order by at desc, array_position(%(order)s, kind) desc nulls last, kind, dag_id, run_id, task_id,
  try_number limit %(limit)s
"""
# The same order from its other end.
_FROM_THE_OLDEST = f"""{_HAPPENED}
order by at, array_position(%(order)s, kind) nulls first, kind desc, dag_id desc, run_id desc,
  task_id desc, try_number desc
"""

# Index run_ended, from its end, and run_unfinished.
_ENOUGH = """
select at from (
  (select ended_at as at from run
   where state in ('success', 'failed') and ended_at >= %(since)s
     and (%(dag_id)s::text is null or dag_id = %(dag_id)s)
     and (%(run_id)s::text is null or run_id = %(run_id)s)
   order by ended_at desc limit %(limit)s)
  union all
  (select queued_at from run
   where state in ('queued', 'running') and queued_at >= %(since)s
     and (%(dag_id)s::text is null or dag_id = %(dag_id)s)
     and (%(run_id)s::text is null or run_id = %(run_id)s)
   order by queued_at desc limit %(limit)s)) as event
order by at desc offset %(limit)s::int - 1 limit 1
"""


def since(
    conn: Conn,
    since: datetime,
    *,
    dag_id: str | None = None,
    run_id: str | None = None,
    limit: int | None = None,
) -> list[Event]:
    """The newest events of a time, the oldest of them first."""
    values = {
        "since": since,
        "dag_id": dag_id,
        "run_id": run_id,
        "limit": limit,
        "order": list(_ORDER),
    }
    if limit is not None:
        # The ends of runs, and the beginnings of those that have none, are events: when there are
        # enough of them, nothing older can be among the newest, and no try of a run that has ended
        # before. So what is read does not grow with the time asked for.
        enough = conn.execute(_ENOUGH, values).fetchone()
        values["since"] = enough[0] if enough else since
    rows = conn.execute(_NEWEST, values).fetchall()
    return [Event._make(row) for row in reversed(rows)]


def one_by_one(
    conn: Conn, since: datetime, *, dag_id: str | None = None, run_id: str | None = None
) -> Iterator[Event]:
    """All events of a time, oldest first, of which only some are in memory."""
    values = {"since": since, "dag_id": dag_id, "run_id": run_id, "order": list(_ORDER)}
    return map(Event._make, conn.one_by_one(_FROM_THE_OLDEST, values))
