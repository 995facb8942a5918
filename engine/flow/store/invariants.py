"""The invariants of flow-internals(7) as statements: each finds the rows that break one."""

from __future__ import annotations

from typing import Final, NamedTuple

from flow.store.connect import Conn

# Running runs with neither a wake-up nor a task that somebody owns; index run_unfinished, one probe
# of task_unfinished each. A scheduled task counts as owned: it is in the admission index.
FORGOTTEN_RUNS: Final = """
select r.run_key from run r
where r.state = 'running' and not r.paused
  and not exists (select from task_hot t where t.dag_id = r.dag_id and t.run_key = r.run_key
    and t.state in ('scheduled', 'queued', 'running', 'restarting', 'deferred', 'awaiting_input'))
  and not exists (select from wakeup w where w.run_key = r.run_key)
"""

# DAGs with a queued run, room for it, and no wake-up.
FORGOTTEN_DAGS: Final = """
select d.dag_id from dag d
where not d.paused
  and exists (select from run r where r.dag_id = d.dag_id and r.state = 'queued' and not r.paused)
  and (select count(*) from run r where r.dag_id = d.dag_id and r.state = 'running')
    < d.max_active_runs
  and not exists (select from wakeup w where w.kind = 'dag' and w.name = d.dag_id)
"""


class Invariant(NamedTuple):
    """One invariant: its number in flow-internals(7), what it says, and how to find breaches."""

    number: int
    text: str
    statement: str


INVARIANTS: Final = (
    Invariant(
        1,
        "every unfinished run has a wake-up or a task that somebody owns",
        f"select 'run ' || run_key from ({FORGOTTEN_RUNS}) as f "
        f"union all select 'dag ' || dag_id from ({FORGOTTEN_DAGS}) as g",
    ),
    Invariant(
        2,
        "a running task has exactly one open try, by the worker it names",
        """select format('run %s task %s', t.run_key, t.task_id) from task_hot t
           where t.state in ('running', 'restarting') and (
             select count(*) from try_hot y where y.run_key = t.run_key and y.task_id = t.task_id
               and y.map_path = t.map_path and y.ended_at is null and y.worker = t.worker) <> 1""",
    ),
    Invariant(
        3,
        "at most one try of a task is open, and its number is the task's",
        """select format('run %s task %s try %s', y.run_key, y.task_id, y.try_number)
           from try_hot y join task_hot t on t.run_key = y.run_key and t.task_id = y.task_id
             and t.map_path = y.map_path
           where y.ended_at is null and y.try_number <> t.try_number""",
    ),
    Invariant(
        4,
        "no try has a higher number or claim than its task",
        """select format('run %s task %s try %s', y.run_key, y.task_id, y.try_number)
           from try_hot y join task_hot t on t.run_key = y.run_key and t.task_id = y.task_id
             and t.map_path = y.map_path
           where y.try_number > t.try_number or y.claim > t.claim""",
    ),
    Invariant(
        5,
        "rows of a finished run are in history, those of an unfinished one in the hot tables",
        """select format('run %s task %s', t.run_key, t.task_id)
           from task_hot t join run r on r.run_key = t.run_key
           where r.state in ('success', 'failed')
           union all
           select format('run %s', r.run_key) from run r
           where r.state in ('queued', 'running')
             and exists (select from task_history h where h.run_key = r.run_key)""",
    ),
    Invariant(
        6,
        "every task of a finished run has finished",
        """select format('run %s task %s', h.run_key, h.task_id) from task_history h
           where h.state not in ('success', 'failed', 'skipped', 'upstream_failed', 'removed')""",
    ),
    Invariant(
        7,
        "no pool has more slots in use than it has",
        """select format('pool %s: %s of %s', p.name, sum(t.pool_slots), p.slots)
           from pool p join task_hot t on t.pool = p.name
           where p.slots >= 0 and t.state in ('queued', 'running', 'restarting')
           group by p.name, p.slots having sum(t.pool_slots) > p.slots""",
    ),
    Invariant(
        8,
        "at most one run per DAG and interval",
        """select format('dag %s interval %s', dag_id, data_interval_start) from run
           where interval_run group by dag_id, data_interval_start having count(*) > 1""",
    ),
)


def forgotten_runs(conn: Conn) -> list[int]:
    """Running runs that nobody would ever look at again."""
    return [row[0] for row in conn.execute(FORGOTTEN_RUNS)]


def forgotten_dags(conn: Conn) -> list[str]:
    """DAGs with a queued run and room for it that nobody would ever look at again."""
    return [row[0] for row in conn.execute(FORGOTTEN_DAGS)]


def breaches(conn: Conn) -> list[tuple[Invariant, list[str]]]:
    """Each broken invariant with what breaks it."""
    found = []
    for invariant in INVARIANTS:
        rows = [str(row[0]) for row in conn.execute(invariant.statement)]
        if rows:
            found.append((invariant, rows))
    return found


def ensure_partitions(conn: Conn) -> None:
    """Make the history partitions of this month and the next two."""
    conn.execute("select ensure_partitions(2)")
