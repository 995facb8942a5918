"""The chain of a DAG's runs: which run is the previous one, what became of tasks in it, and waking
those who wait for it.

That no wake-up is lost: who asks about a previous run holds that run's row while it reads, and
says in it that it is `chained` before it lets go. A task's end reaches the scheduler that decides
that task's run, under the same row: either before the question, then it is read, or after it, then
`chained` is seen and the asking run is woken in the transaction that takes the wake-up of the end.
Rows are only ever taken when nobody holds them, so the order in which runs are locked is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flow.states import FINISHED_RUNS, RunState, TaskState
from flow.store import arrays
from flow.store.connect import Conn


class Previous(NamedTuple):
    """A run that was asked about."""

    run_key: int
    dag_id: str
    run_id: str
    state: RunState
    paused: bool
    chained: bool
    spec_hash: str


# The previous run of each, in the chain of its DAG; index run_by_date. `whole`: all runs of the DAG
# are in the chain, else its interval runs.
_BEFORE = """
select r.run_key, before.run_key
from unnest(%(run_keys)s::bigint[], %(whole)s::bool[]) as k(run_key, whole)
join run r on r.run_key = k.run_key and (k.whole or r.interval_run),
lateral (select p.run_key from run p
  where p.dag_id = r.dag_id and (p.logical_date, p.run_key) < (r.logical_date, r.run_key)
    and (k.whole or p.interval_run)
  order by p.logical_date desc, p.run_key desc limit 1) as before
"""

_FIND = """
select r.run_key, r.dag_id, r.run_id, r.state, r.paused, r.chained, v.spec_hash
from run r join dag_version v on v.dag_id = r.dag_id and v.number = r.version
where r.run_key = any(%(run_keys)s::bigint[])
order by r.run_key
"""
# Passing over what somebody else holds. The states of its tasks are read by a later statement.
_HOLD = f"{_FIND} for no key update of r skip locked"

_CHAIN = "update run set chained = true where run_key = any(%(run_keys)s::bigint[])"

# Primary key, one probe each.
_STATES = {
    table: f"""
select t.run_key, t.task_id, t.state
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[]) as k(run_key, task_id)
join task_{table} t on t.run_key = k.run_key and t.task_id = k.task_id and t.map_path = '{{}}'
"""
    for table in ("hot", "history")
}

_REMEMBER = """
update run r set past_key = n.past_key
from unnest(%(run_keys)s::bigint[], %(past_keys)s::bigint[]) as n(run_key, past_key)
where r.run_key = n.run_key
"""

# The runs that wait for one of these, or for one before it: then this one came in between. Tasks
# have the same meaning in both only in runs of one version. Index run_unfinished.
_WAKE_FOLLOWERS = """
insert into wakeup (kind, run_key, task_id)
select distinct 'run', x.run_key, case when x.version = m.version then e.task_id end
from unnest(%(run_keys)s::bigint[], %(task_ids)s::text[]) as e(run_key, task_id)
join run m on m.run_key = e.run_key
join run x on x.dag_id = m.dag_id and x.state in ('queued', 'running') and x.past_key is not null
  and (x.logical_date, x.run_key) > (m.logical_date, m.run_key)
left join run p on p.run_key = x.past_key
where p.run_key is null or (p.logical_date, p.run_key) <= (m.logical_date, m.run_key)
"""

# Runs that are running already and have a new run before them. Index run_unfinished.
_WAKE_LATER = """
insert into wakeup (kind, run_key)
select distinct 'run', x.run_key
from run m join run x on x.dag_id = m.dag_id and x.state = 'running'
  and (x.logical_date, x.run_key) > (m.logical_date, m.run_key)
where m.run_key = any(%(run_keys)s::bigint[])
"""


def before(conn: Conn, runs: Sequence[tuple[int, bool]]) -> dict[int, int]:
    """The previous run by run, for (run_key, whole); a run without one is absent."""
    run_keys, whole = zip(*runs, strict=True)
    rows = conn.execute(_BEFORE, {"run_keys": list(run_keys), "whole": list(whole)})
    return dict(rows.fetchall())


def find(conn: Conn, run_keys: Iterable[int], *, hold: bool) -> dict[int, Previous]:
    """Previous runs by key.

    With `hold` their rows are taken and chained; those that somebody else holds are absent.
    """
    rows = conn.execute(_HOLD if hold else _FIND, {"run_keys": sorted(set(run_keys))})
    found = {
        run_key: Previous(run_key, dag_id, run_id, RunState(state), paused, chained, spec_hash)
        for run_key, dag_id, run_id, state, paused, chained, spec_hash in rows
    }
    fresh = [one.run_key for one in found.values() if not one.chained]
    if hold and fresh:
        conn.execute(_CHAIN, {"run_keys": fresh})
    return found


def states(
    conn: Conn, asked: Iterable[tuple[Previous, Iterable[str]]]
) -> dict[tuple[int, str], TaskState]:
    """What became of tasks of previous runs.

    A task of an unfinished run without a row is in state none. One of a finished run has a row; if
    it was archived, the verdict of its run stands for it.
    """
    found: dict[tuple[int, str], TaskState] = {}
    keys: dict[str, list[tuple[int, str]]] = {"hot": [], "history": []}
    for run, task_ids in asked:
        finished = run.state in FINISHED_RUNS
        state = TaskState(run.state.value) if finished else TaskState.NONE
        for task_id in task_ids:
            found[run.run_key, task_id] = state
            keys["history" if finished else "hot"].append((run.run_key, task_id))
    for table, wanted in keys.items():
        if wanted:
            run_keys, ids = zip(*wanted, strict=True)
            rows = conn.execute(
                _STATES[table],
                {"run_keys": arrays.numbers(run_keys), "task_ids": arrays.texts(ids)},
            )
            found |= {(run_key, task_id): TaskState(state) for run_key, task_id, state in rows}
    return found


def remember(conn: Conn, waits: Iterable[tuple[int, int | None]]) -> None:
    """Note for which previous run each run waits, as (run_key, past_key); None: for none."""
    rows = list(waits)
    if rows:
        run_keys, past_keys = zip(*rows, strict=True)
        conn.later(_REMEMBER, {"run_keys": list(run_keys), "past_keys": list(past_keys)})


def wake_followers(conn: Conn, ended: Iterable[tuple[int, str | None]]) -> None:
    """Wake the runs that wait for these: (run_key, task that ended there, or None for anything).

    For who decides, marks, clears, cancels or deletes (before the row is gone) a run, under its
    lock.
    """
    rows = list(ended)
    if rows:
        run_keys, task_ids = zip(*rows, strict=True)
        conn.later(
            _WAKE_FOLLOWERS,
            {"run_keys": arrays.numbers(run_keys), "task_ids": arrays.texts(task_ids)},
        )


def wake_later(conn: Conn, run_keys: Sequence[int]) -> None:
    """Wake the running runs after these, which have just started: each has a new previous run.

    Runs of one DAG start under the DAG's lock, so a later run that is not seen here sees them.
    """
    if run_keys:
        conn.later(_WAKE_LATER, {"run_keys": list(run_keys)})
