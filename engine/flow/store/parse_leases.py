"""Which DAG processor imports which file: each file is imported by one of them at a time."""

from __future__ import annotations

from collections.abc import Collection

from flow.store.connect import Conn

# Rows are locked in order of path. A process that holds a file itself takes it anew: what it was
# about to do with it is forgotten, for it has lost its connection since.
_TAKE = """
insert into parse_lease as l (path, process_id, until)
select path, %(process_id)s, clock_timestamp() + make_interval(secs => %(seconds)s)
from unnest(%(paths)s::text[]) as wanted(path) order by path
on conflict (path) do update set process_id = excluded.process_id, until = excluded.until
where l.process_id = excluded.process_id or l.until < clock_timestamp() or not exists (
  select from process p where p.process_id = l.process_id and p.ended_at is null)
returning path
"""

# Locked in order of path too: another processor may be about to take several of them.
_GIVE_BACK = """
with mine as (
  select path from parse_lease
  where path = any(%(paths)s::text[]) and process_id = %(process_id)s order by path for update)
delete from parse_lease l using mine where l.path = mine.path returning l.path
"""


def take(conn: Conn, process_id: int, paths: Collection[str], seconds: float) -> set[str]:
    """Take files for `seconds`; those of them that no other living processor has."""
    if not paths:
        return set()
    values = {"process_id": process_id, "paths": sorted(paths), "seconds": seconds}
    return {row[0] for row in conn.execute(_TAKE, values)}


def give_back(conn: Conn, process_id: int, paths: Collection[str]) -> set[str]:
    """Give files back; those of them that were still this process's.

    In the transaction that stores what files define it is the fence: what was taken over by
    another processor is that one's to store.
    """
    if not paths:
        return set()
    values = {"process_id": process_id, "paths": sorted(paths)}
    return {row[0] for row in conn.execute(_GIVE_BACK, values)}
