"""One database and those who work on it, moved statement by statement and judged at each commit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
from model.reference import HELD, Reference, RunId, Seen, SeenRun, TaskId
from model.stepped import Actor, Order, Where
from model.workers import Processes, Seat

from flow.errors import FlowError
from flow.store import invariants
from flow.store.connect import Conn, connect

_TABLES = (
    *(f"{name}_{kind}" for name in ("task", "try", "xcom", "event") for kind in ("hot", "history")),
    *("wakeup", "process", "callback", "stopping", "audit"),
    *("run", "dag_version", "dag", "dag_file", "spec"),
)

# All statements of a transaction that the observer needs.
_RUNS = "select dag_id, run_id, run_key, state, logical_date, interval_run from run"
_TASKS = "select run_key, task_id, state, claim, worker from task"
_TRIES = "select run_key, task_id, try_number, state from try"
# What was put off is due at once: as if time had passed.
_DUE = """
update wakeup set due_at = clock_timestamp() where id in
  (select id from wakeup where due_at > clock_timestamp() for update skip locked)
"""


class Party:
    """Somebody who commits: an actor, and what its commits are to be judged as."""

    def __init__(self, kind: str, actor: Actor) -> None:
        self.kind = kind
        """scheduler, worker, operator"""
        self.actor = actor
        self.seat: Seat | None = None
        """Of a worker."""
        self.since = 0
        """The moment at which its transaction began."""
        self.effect: Callable[[], object] | None = None
        """What an operator's commit does to the reference."""

    @property
    def idle(self) -> bool:
        return self.actor.where is Where.IDLE


class Stage:
    """The database and those who work on it, for one example after the other."""

    def __init__(self, dsn: str, home: Path) -> None:
        self.dsn = dsn
        self.home = home
        # What it asks after each commit is planned once.
        self.observer = psycopg.connect(dsn, autocommit=True, prepare_threshold=0)
        self.conn = connect(dsn, name="test")
        self.parties = [
            Party(kind, Actor(f"{kind} {number}", dsn, self.observer))
            for kind in ("scheduler", "operator", "worker")
            for number in range(2)
        ]
        self.processes = Processes()
        self.reference = Reference({}, {})
        self.sound = True
        """Whether everything that was done so far was as it should be."""
        self._examples = 0

    def clear(self) -> Path:
        """Make room for the next example; a folder of its own."""
        for table in _TABLES:
            self.observer.execute(f"delete from {table}")
        self.observer.execute("delete from pool where name <> 'default_pool'")
        self._examples += 1
        self.sound = True
        home = self.home / str(self._examples)
        home.mkdir()
        self.processes.forget()
        for number, party in enumerate(self.parties):
            if party.kind == "worker":
                party.seat = Seat(home / f"w{number}", self.dsn, self.processes)
        return home

    def close(self) -> None:
        for party in self.parties:
            party.actor.close()
        self.conn.close()
        self.observer.close()

    def of(self, kind: str, number: int) -> Party:
        found = [party for party in self.parties if party.kind == kind]
        return found[number % len(found)]

    def begin(self, party: Party, work: Callable[[Conn], object], steps: int) -> None:
        """Begin some work of somebody who is idle, and go so many statements on."""
        if party.idle:
            party.actor.begin(work)
            self._ended(party)
        self.go(party, steps)

    def go(self, party: Party, steps: int, order: Order = Order.GO) -> None:
        for _ in range(steps):
            if party.actor.where is not Where.BEFORE:
                return
            self.step(party, order)

    def go_before(self, party: Party, words: str) -> None:
        """Let somebody go on until he stands before a statement with some words, or is done."""
        while party.actor.where is Where.BEFORE and words not in party.actor.statement:
            self.step(party)

    def step(self, party: Party, order: Order = Order.GO) -> None:
        """One statement of somebody, and what it lets others do."""
        self.sound = False
        if party.actor.statement.startswith("begin"):
            party.since = len(self.reference.moments) - 1
        statement = party.actor.step(order)
        if statement == "commit" and order is not Order.CUT:
            self._committed(party)
        self._ended(party)
        for other in self.parties:
            if other.actor.where is Where.WITHIN:
                other.actor.settle()
                self._ended(other)
        self.sound = True

    def _ended(self, party: Party) -> None:
        """Look at what somebody has come to who has nothing left to do."""
        if not party.idle or party.actor.error is None:
            return
        error, party.actor.error = party.actor.error, None
        expected = FlowError if party.kind == "operator" else ()
        cut = isinstance(error, psycopg.OperationalError) and party.actor.conn.closed
        if not cut and not isinstance(error, expected):
            raise error

    def _committed(self, party: Party) -> None:
        """Compare what stands in the database with what should."""
        seen = self._look()
        match party.kind:
            case "operator":
                if party.effect is not None:
                    party.effect()
                self._adopt_new(seen)
            case "scheduler":
                self._explain(seen, None)
                self.reference.scheduled(seen, party.since)
            case "worker":
                assert party.seat is not None
                self._explain(seen, party.seat.host.process_id)
        self._forget_dead()
        over = self.observer.execute("select process_id from process where ended_at is not null")
        self.reference.over = {process_id for (process_id,) in over}
        self.reference.require_equal(seen)
        self.reference.note()
        broken = invariants.breaches(self.observer)
        assert not broken, broken
        self.observer.execute(_DUE)

    def _adopt_new(self, seen: dict[RunId, SeenRun]) -> None:
        for run_id in seen.keys() - self.reference.runs.keys():
            self.reference.make(run_id, seen[run_id])

    def _explain(self, seen: dict[RunId, SeenRun], worker: int | None) -> None:
        """What a worker (None: a scheduler) has changed of tasks that are held or may be taken."""
        for id, task in list(self.reference.all_tasks()):
            after = seen[id.run].tasks.get(id.task_id) if id.run in seen else None
            if after is None or (after.state == task.state and after.tries == task.tries):
                continue
            if after.state == "running" and task.state == "queued":
                assert worker is not None, f"{id} was taken by a scheduler"
                self.reference.claimed(task, after, worker)
            elif task.state in HELD and task.tries.get(task.number) == "running":
                fate = self.processes.fates.get((id, task.number))
                if task.worker == worker and fate is not None:
                    self.reference.ended(id, fate)
                else:
                    unheard = (id, task.number) not in self.processes.started
                    assert task.worker in self.processes.gone or unheard, f"{id} was not lost"
                    self.reference.lost(id)

    def _forget_dead(self) -> None:
        """Whose processes are not noted any more."""
        rows = self.observer.execute(
            "select r.dag_id, r.run_id, s.task_id from stopping s join run r using (run_key)"
        )
        noted = {TaskId(RunId(dag_id, run_id), task_id) for dag_id, run_id, task_id in rows}
        for id in set(self.reference.stopping) - noted:
            assert (
                id not in self.processes.alive
                or self.processes.alive[id].number != (self.reference.stopping[id][0])
            ), f"the process of {id} is said to be dead"
            self.reference.dead(id)
        assert noted == set(self.reference.stopping)

    def _look(self) -> dict[RunId, SeenRun]:
        runs = self.observer.execute(_RUNS).fetchall()
        by_key: dict[int, dict[str, Seen]] = {key: {} for _, _, key, *_ in runs}
        for key, task_id, state, claim, worker in self.observer.execute(_TASKS):
            by_key[key][task_id] = Seen(state, claim, worker, {})
        for key, task_id, number, state in self.observer.execute(_TRIES):
            by_key[key][task_id].tries[number] = state
        return {
            RunId(dag_id, run_id): SeenRun(key, state, date, interval_run, by_key[key])
            for dag_id, run_id, key, state, date, interval_run in runs
        }
