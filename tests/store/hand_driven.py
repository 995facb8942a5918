"""A small world for tests of the store and the scheduler: DAGs, schedulers, workers by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from psycopg.types.json import Jsonb

from flow.decide import Ending, after_failure
from flow.graph import DagSpec, TaskSpec, encode, spec_hash
from flow.graph.index import binding_run_limit, pools_of
from flow.roles.schedule import Scheduler, Settings
from flow.states import TaskState, TryState
from flow.store import invariants, processes, specs, tries, wakeups
from flow.store.connect import Conn, connect, transaction
from flow.store.tries import Claimed, Report
from flow.store.wakeups import BUSY_AGAIN
from flow.timetables import parse

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
Outcome = Callable[[Claimed], TaskState]


def succeed(_: Claimed) -> TaskState:
    return TaskState.SUCCESS


def task(task_id: str, above: str = "", **fields) -> TaskSpec:
    return TaskSpec(task_id=task_id, operator="x", upstream=tuple(sorted(above.split())), **fields)


def spec(dag_id: str, *tasks: TaskSpec, **fields) -> DagSpec:
    settings = {
        "timetable": parse("@daily", "UTC"),
        "start_date": TODAY - timedelta(days=1),
        **fields,
    }
    ordered = tuple(sorted(tasks, key=lambda one: one.task_id))
    return DagSpec(dag_id=dag_id, tasks=ordered, **settings)


@dataclass
class World:
    """One database with its DAGs. Workers are rows that claim and report when told."""

    dsn: str
    conn: Conn
    _workers: dict[str, int] = field(default_factory=dict)
    _schedulers: list[Scheduler] = field(default_factory=list)

    def close(self) -> None:
        for scheduler in self._schedulers:
            scheduler.conn.close()

    def scheduler(self, **fields) -> Scheduler:
        """A scheduler with a connection of its own; drive it with `run_once`."""
        settings = Settings(dsn=self.dsn, listen_dsn=self.dsn, version="test", **fields)
        made = Scheduler(settings, connect(self.dsn, name="test"))
        self._schedulers.append(made)
        return made

    def add(self, dag: DagSpec, *, due: bool = True) -> None:
        """Store a DAG, unpaused; its next run is due when its last interval has ended."""
        body = encode(dag)
        digest = spec_hash(body)
        self.conn.execute(
            "insert into spec (hash, body, head) values (%(hash)s, %(body)s, %(head)s)"
            " on conflict do nothing",
            {"hash": digest, **specs.columns(body, dag)},
        )
        self.conn.execute(
            """insert into dag (dag_id, file, paused, version, schedule, timezone, catchup, owner,
                 max_active_runs, concurrency, next_start, next_end, next_run_at)
               values (%s, '/dags/x.py', false, 1, 'daily', 'UTC', 'false', 'x', %s, %s, %s, %s,
                 %s)""",
            (
                dag.dag_id,
                dag.max_active_runs,
                dag.concurrency,
                *((TODAY - timedelta(days=1), TODAY, TODAY) if due else (None, None, None)),
            ),
        )
        self.conn.execute(
            """insert into dag_version (dag_id, number, spec_hash, code_hash, bundle,
                 max_active_tasks, pools)
               values (%s, 1, %s, 'c', 'local', %s, %s)""",
            (dag.dag_id, digest, binding_run_limit(dag), Jsonb(pools_of(dag))),
        )

    def pool(self, name: str, slots: int) -> None:
        self.conn.execute("insert into pool (name, slots) values (%s, %s)", (name, slots))

    def worker(self, queue: str = "default") -> int:
        """A live worker that serves a queue."""
        if queue not in self._workers:
            with transaction(self.conn, "test"):
                self._workers[queue] = processes.register(
                    self.conn, role="work", host="h", pid=1, version="t", lost_after=300,
                    executor="local", queues=[queue], slots=8,
                )  # fmt: skip
                wakeups.wake_named(self.conn, [("queue", queue)])
        return self._workers[queue]

    def claim(self, limit: int = 100, queue: str = "default") -> list[Claimed]:
        with transaction(self.conn, "test"):
            return tries.claim(
                self.conn, worker=self.worker(queue), host="h", executor="local", queues=[queue],
                limit=limit,
            )  # fmt: skip

    def report(self, task: Claimed, state: TaskState, **fields) -> bool:
        """Report the end of a try as a worker would; whether it counted."""
        after = after_failure(task) if state is TaskState.FAILED else None
        ending = Ending(
            state=after.state if after else state,
            try_state=TryState(state.value),
            delay=after.delay if after else None,
            **fields,
        )
        with transaction(self.conn, "test"):
            return bool(tries.report(self.conn, [Report(task.key, ending)]))

    def settle(self, *schedulers: Scheduler, outcome: Outcome = succeed, limit: int = 100) -> int:
        """Let schedulers and one worker work until nothing moves; how many tries were run."""
        run = 0
        while True:
            moved = sum(scheduler.run_once() for scheduler in schedulers)
            claimed = self.claim(limit)
            for one in claimed:
                self.report(one, outcome(one))
            run += len(claimed)
            if not moved and not claimed and not self._due_just_now():
                return run

    def _due_just_now(self) -> bool:
        """Whether a wake-up has become due a moment ago or will in one: one scheduler has put it
        off because another one was in its way."""
        row = self.conn.execute(
            """select exists (select from wakeup
                 where abs(extract(epoch from due_at - clock_timestamp())) < %s)""",
            (2 * BUSY_AGAIN,),
        ).fetchone()
        return row == (True,)

    def states(self, dag_id: str) -> dict[str, str]:
        """State by task id, over all runs of a DAG (for DAGs with one run)."""
        rows = self.conn.execute("select task_id, state from task where dag_id = %s", (dag_id,))
        return dict(rows.fetchall())

    def runs(self, dag_id: str) -> list[str]:
        rows = self.conn.execute(
            "select state from run where dag_id = %s order by logical_date", (dag_id,)
        )
        return [row[0] for row in rows]

    def count(self, where: str) -> int:
        row = self.conn.execute(f"select count(*) from task_hot where {where}").fetchone()
        return row[0]

    def check(self) -> None:
        """No invariant is broken, and the repairing sweep would find nothing."""
        assert invariants.breaches(self.conn) == []
