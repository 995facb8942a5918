"""Tries: claimed by a worker, reported by it, or closed by whoever finds that it was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from flow.decide import Ending
from flow.store import arrays
from flow.store.connect import Conn, Row
from flow.store.text import storable_or_none


class Claim(NamedTuple):
    """One hand-over of a task: counts only as long as it is the current one."""

    run_key: int
    task_id: str
    map_path: tuple[int, ...]
    number: int


class Claimed(NamedTuple):
    """A task that a worker holds, with what its process and its supervisor have to know.

    Durations in seconds. `file` is the path of the DAG file on the host that parsed it.
    """

    run_key: int
    task_id: str
    map_path: tuple[int, ...]
    claim: int
    try_number: int
    max_tries: int
    losses: int
    retry_delay: float
    retry_backoff: float
    max_retry_delay: float | None
    execution_timeout: float | None
    executor: str
    queue: str
    dag_id: str
    run_id: str
    run_type: str
    version: int
    logical_date: datetime
    data_interval_start: datetime
    data_interval_end: datetime
    run_after: datetime
    started_at: datetime | None
    conf: str
    file: str
    code_hash: str | None
    """Of the version of the run, when its code is pinned."""
    modules: Mapping[str, str] | None
    """Its local modules: name → path within the DAG folder."""

    @property
    def key(self) -> Claim:
        """What every write for this task names."""
        return Claim(self.run_key, self.task_id, self.map_path, self.claim)


class Open(NamedTuple):
    """An open try of a process that is gone, with what deciding about it needs."""

    run_key: int
    task_id: str
    map_path: tuple[int, ...]
    claim: int
    try_number: int
    max_tries: int
    losses: int
    retry_delay: float
    retry_backoff: float
    max_retry_delay: float | None
    dag_id: str
    executor: str
    queue: str

    @property
    def key(self) -> Claim:
        """What every write for this task names."""
        return Claim(self.run_key, self.task_id, self.map_path, self.claim)


class Orders(NamedTuple):
    """What a worker is to do with a task that it holds: go on, or end it."""

    cleared: bool
    """End it: it waits for its process to be dead, to be decided anew."""
    stop_reason: str | None
    """End it, and report it as skipped for this reason."""


class Report(NamedTuple):
    """The end of a try, for the store: who says it, and what was decided."""

    claim: Claim
    ending: Ending
    pid: int | None = None
    log: str | None = None


# Takes queued tasks and opens their tries; index task_queue. Locks the tasks it takes, and for a
# moment as many of each further queue it serves. A function of the schema: see there.
_CLAIM = """
select run_key, task_id, map_path, claim, try_number, max_tries, losses, retry_delay, retry_backoff,
  max_retry_delay, execution_timeout, executor, queue, dag_id, run_id, run_type, version,
  logical_date, data_interval_start, data_interval_end, run_after, started_at, conf, file,
  code_hash, modules
from claim_tasks(%(worker)s::bigint, %(host)s::text, %(executor)s::text, %(queues)s::text[],
  %(limit)s::int, %(pins)s::boolean)
"""

_STARTED = """
update try_hot y set pid = s.pid, log = s.log
from unnest(%(run_key)s::bigint[], %(task_id)s::text[], %(map_path)s::text[], %(claim)s::int[],
    %(pid)s::int[], %(log)s::text[]) as s(run_key, task_id, map_path, claim, pid, log)
where y.run_key = s.run_key and y.task_id = s.task_id and y.map_path = s.map_path::int[]
  and y.claim = s.claim and y.ended_at is null
"""

# Everything that follows from ended tries, for those whose claim still counts. Locks the tasks in
# order of key. A function of the schema: see there.
_REPORT = """
select run_key, task_id, map_path, claim
from report_tries(%(run_key)s::bigint[], %(task_id)s::text[], %(map_path)s::text[],
  %(claim)s::int[], %(state)s::text[], %(try_state)s::text[], %(reason)s::text[],
  %(code)s::text[], %(delay)s::float8[], %(again)s::bool[], %(pid)s::int[], %(log)s::text[],
  %(exit_code)s::int[], %(signal)s::int[], %(peak_rss)s::bigint[], %(cpu_time)s::float8[],
  %(code_hash)s::text[], %(skips)s::text[], %(value)s::text[])
"""

# Tries that a process left open; index try_open. Locks the tasks in order of key.
_LEFT_OPEN = """
select t.run_key, t.task_id, t.map_path, t.claim, t.try_number, t.max_tries, t.losses,
  t.retry_delay, t.retry_backoff, t.max_retry_delay, t.dag_id, t.executor, t.queue
from try_hot y join task_hot t
  on t.run_key = y.run_key and t.task_id = y.task_id and t.map_path = y.map_path
    and t.try_number = y.try_number
where y.worker = %(worker)s and y.ended_at is null
  and t.worker = %(worker)s and t.state in ('running', 'restarting')
order by t.run_key, t.task_id, t.map_path for no key update of t
"""

# What a worker holds, as far as the store knows; index try_open. No locks.
_HELD = """
select t.run_key, t.task_id, t.map_path, t.claim, t.state = 'restarting', t.stop_reason
from try_hot y join task_hot t
  on t.run_key = y.run_key and t.task_id = y.task_id and t.map_path = y.map_path
    and t.try_number = y.try_number and t.claim = y.claim
where y.worker = %(worker)s and y.ended_at is null
  and t.worker = %(worker)s and t.state in ('running', 'restarting')
"""


def claim(
    conn: Conn,
    *,
    worker: int,
    host: str,
    executor: str,
    queues: Sequence[str],
    limit: int,
    pins: bool = False,
) -> list[Claimed]:
    """Take up to `limit` queued tasks for a worker and open their tries.

    `pins` says whether code is pinned where a DAG does not say it.
    """
    rows = conn.execute(
        _CLAIM,
        {
            "worker": worker,
            "host": host,
            "executor": executor,
            "queues": list(queues),
            "limit": limit,
            "pins": pins,
        },
    )
    return [Claimed._make((*row[:2], tuple(row[2]), *row[3:])) for row in rows]


def started(conn: Conn, tries: Sequence[tuple[Claim, int, str]]) -> None:
    """Note process id and log of tries that have a process now: (claim, pid, log) each."""
    if tries:
        claims = [one for one, _, _ in tries]
        conn.execute(
            _STARTED,
            {
                **keys(claims),
                "pid": arrays.numbers([pid for _, pid, _ in tries]),
                "log": arrays.texts([log for _, _, log in tries]),
            },
        )


def report(conn: Conn, reports: Sequence[Report]) -> set[Claim]:
    """Write how tries ended; returns the claims whose end counted.

    Of a task that was cleared only the death counts; the others changed nothing.
    """
    if not reports:
        return set()
    ends = [one.ending for one in reports]
    rows = conn.execute(
        _REPORT,
        {
            **keys([one.claim for one in reports]),
            "state": arrays.texts([end.state.value for end in ends]),
            "try_state": arrays.texts([end.try_state.value for end in ends]),
            "reason": arrays.texts([storable_or_none(end.reason) for end in ends]),
            "code": arrays.texts([end.code for end in ends]),
            "delay": arrays.numbers([end.delay for end in ends]),
            "again": arrays.flags([end.again for end in ends]),
            "exit_code": arrays.numbers([end.exit_code for end in ends]),
            "signal": arrays.numbers([end.signal for end in ends]),
            "peak_rss": arrays.numbers([end.peak_rss for end in ends]),
            "cpu_time": arrays.numbers([end.cpu_time for end in ends]),
            "code_hash": arrays.texts([end.code_hash for end in ends]),
            "skips": arrays.texts([",".join(end.skips) or None for end in ends]),
            "value": arrays.texts([end.value for end in ends]),
            "pid": arrays.numbers([one.pid for one in reports]),
            "log": arrays.texts([one.log for one in reports]),
        },
    )
    return {_claim(row) for row in rows}


def left_open(conn: Conn, worker: int) -> list[Open]:
    """Tries that a process left open, their tasks locked."""
    rows = conn.execute(_LEFT_OPEN, {"worker": worker})
    return [Open._make((*row[:2], tuple(row[2]), *row[3:])) for row in rows]


def held(conn: Conn, worker: int) -> dict[Claim, Orders]:
    """The claims of a worker that count: not marked, reported or taken from it."""
    rows = conn.execute(_HELD, {"worker": worker})
    return {_claim(row[:4]): Orders._make(row[4:]) for row in rows}


def _claim(row: Row) -> Claim:
    run_key, task_id, map_path, number = row
    return Claim(run_key, task_id, tuple(map_path), number)


def keys(claims: Sequence[Claim]) -> dict[str, str]:
    """Claims as the arrays that a statement unnests: run_key, task_id, map_path, claim."""
    return {
        "run_key": arrays.numbers([one.run_key for one in claims]),
        "task_id": arrays.texts([one.task_id for one in claims]),
        "map_path": arrays.paths([one.map_path for one in claims]),
        "claim": arrays.numbers([one.number for one in claims]),
    }
