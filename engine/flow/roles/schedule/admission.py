"""Arrow 3 of a task's life: ready tasks pass the limits that no single run can judge.

Locks DAGs that were woken or have a limit over their runs, then runs with a limit, then pools, each
by key, and counts in statements after the locks. What another scheduler holds is passed over; then
the wake-up stays, so that nobody has to remember anything. A pool that was woken comes before the
DAGs and runs of its tasks: what is free of it says how many to look at.

Tasks of a pool with a size are let through in the pool's own walk only, in its order: a walk over a
DAG or a queue admits the others and leaves a wake-up to the pools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from flow.decide import Room, Shares, admit
from flow.roles.schedule.creation import start_woken
from flow.roles.schedule.graphs import Graphs
from flow.roles.schedule.write import Written
from flow.store import candidates, gates, upcoming, wakeups
from flow.store.candidates import Kind, Ready, Scope
from flow.store.connect import Conn, transaction
from flow.store.gates import Gates, Use
from flow.store.notify import Notifier
from flow.store.wakeups import Wakeup

BATCH: Final = 500
"""Wake-ups taken at once."""
PAGE: Final = 1_000
"""Ready tasks looked at in one statement, at most."""
LEAST: Final = 50
"""Ready tasks looked at in one statement where fewer slots are free: some may have to be passed
over."""
ENOUGH: Final = 5_000
"""Tasks queued in one transaction; the rest is left to the next."""


def admit_woken(conn: Conn, heads: Graphs, shares: Shares, notifier: Notifier) -> Written:
    """Serve wake-ups of DAGs, pools and queues."""
    opening = (gates.READ, wakeups.take_named(BATCH))
    closing = partial(notifier.settle, upcoming.LOOK)
    with transaction(conn, "schedule.admit", opening=opening, closing=closing) as answers:
        state = gates.found(answers.opening)
        answers.opening.nextset()
        taken = wakeups.named(answers.opening)
        written = _serve(conn, heads, taken, state, shares) if taken else Written()
        written.owe(notifier)
    written.done = bool(taken)
    written.due = upcoming.found(answers.closing)
    return written


def _serve(
    conn: Conn, heads: Graphs, taken: Sequence[Wakeup], state: Gates, shares: Shares
) -> Written:
    """Serve the scopes of some wake-ups, which are deleted where nothing has to be looked at again.

    Others come back a little later.
    """
    by_scope: dict[tuple[Kind, str], list[Wakeup]] = {}
    for wakeup in taken:
        kind: Kind = "dag" if wakeup.kind == "dag" else _other(wakeup.kind)
        by_scope.setdefault((kind, wakeup.name or ""), []).append(wakeup)
    held = set()
    dags = [name for kind, name in by_scope if kind == "dag"]
    written = Written()
    if dags:
        written, busy = start_woken(conn, heads, dags, state, shares)
        held |= {("dag", name) for name in busy}
    admission = _Admission(conn, state)
    for scope in sorted(by_scope.keys() - held):
        if admission.queued >= ENOUGH or not admission.serve(*scope):
            held.add(scope)
    written.queued += admission.queued
    wakeups.delete(conn, [w.id for s, ws in by_scope.items() if s not in held for w in ws])
    wakeups.postpone(conn, [w.id for s in held for w in by_scope[s]])
    return written


def _other(kind: str) -> Kind:
    return "pool" if kind == "pool" else "queue"


class _Held(NamedTuple):
    """What another transaction holds, so that what depends on it has to be looked at again."""

    dags: set[str]
    runs: set[int]
    pools: set[str]

    def has(self, one: Ready) -> bool:
        task = one.task
        return task.dag_id in self.dags or task.run_key in self.runs or task.pool in self.pools


class _Admission:
    """One transaction's admissions: locks taken, room counted under them."""

    def __init__(self, conn: Conn, state: Gates) -> None:
        self._conn = conn
        self._state = state
        self._room = Room(served=self._state.served)
        self._open_runs: set[int] = set()
        self._open_dags: set[str] = set()
        self._open_pools: set[str] = set(self._state.unlimited)
        self._kept: set[str] = set()
        """Pools in which ready tasks have kept their slots."""
        self.queued = 0

    def serve(self, kind: Kind, name: str) -> bool:
        """Admit what is ready within a scope; False when its wake-up has to stay."""
        if kind == "queue" and all(queue != name for _, queue in self._state.served):
            return True  # whoever comes to serve it wakes it
        if kind == "pool":
            if self._lock_pools([name]):
                return False
        else:
            pools = candidates.pools_of(self._conn, kind, name)
            wakeups.wake_named(self._conn, [("pool", pool) for pool in pools])
        done = True
        for page in self._pages(kind, name):
            done = self._admit(page) and done
            if self._full(kind, name) and not any(one.task.slots == 0 for one in page):
                return done
            if self.queued >= ENOUGH:
                return False
        return done

    def _admit(self, page: Sequence[Ready]) -> bool:
        """Admit what fits of a page; False when something of it has to be looked at again."""
        held = self._lock(page)
        passed_over = [one for one in page if held.has(one)]
        done = all(self._room.refusal(one.task) is not None for one in passed_over)
        mine = [one for one in page if not held.has(one)]
        self._count_tasks(mine)
        chosen = set(admit([one.task for one in mine], self._room))
        admitted = [one for one in mine if one.task in chosen]
        self.queued += len(admitted)
        # Fewer rows than admitted: some were queued between our look and our lock, and the room
        # that was counted for them is still free.
        return candidates.queue(self._conn, admitted) == len(admitted) and done

    def _pages(self, kind: Kind, name: str) -> Iterator[list[Ready]]:
        if kind != "pool" or name in self._state.unlimited:
            yield from self._walk(kind, name, PAGE)
            return
        if name in self._kept:
            yield from self._walk("kept", name, PAGE)
        free = self._room.pools[name]
        if free > 0:
            yield from self._walk("pool", name, min(PAGE, max(LEAST, free)))

    def _walk(self, scope: Scope, name: str, limit: int) -> Iterator[list[Ready]]:
        after = None
        while True:
            page = candidates.ready(self._conn, scope, name, self._state, after=after, limit=limit)
            if page.ready:
                yield page.ready
            after, limit = page.after, PAGE
            if after is None:
                return

    def _full(self, kind: Kind, name: str) -> bool:
        """Whether nothing more can be admitted within the scope."""
        rooms = {"pool": self._room.pools, "dag": self._room.dags}.get(kind, {})
        return rooms.get(name, 1) < 1

    def _lock(self, page: Sequence[Ready]) -> _Held:
        """Lock what the candidates need and count it; what somebody else holds of it."""
        tasks = [one.task for one in page]
        dags = self._lock_dags(
            {task.dag_id for task in tasks},
            {task.dag_id for task in tasks if task.dag_limit is not None},
        )
        runs = self._lock_runs(page)
        return _Held(dags, runs, self._lock_pools({task.pool for task in tasks}))

    def _lock_dags(self, dag_ids: set[str], limiting_tasks: set[str]) -> set[str]:
        new = sorted(dag_ids - self._open_dags)
        if not new:
            return set()
        limits, held = gates.lock_dags(self._conn, new, sorted(limiting_tasks))
        self._open_dags |= set(new) - held
        own = {dag_id: limit for dag_id, limit in limits.items() if limit is not None}
        if own:
            active = gates.active_in_dags(self._conn, list(own))
            for dag_id, limit in own.items():
                self._room.dags[dag_id] = limit - active.get(dag_id, 0)
        return held

    def _lock_runs(self, page: Sequence[Ready]) -> set[int]:
        """Runs that limit their active tasks, or those of one task."""
        limits: dict[int, int | None] = {}
        for one in page:
            limited = one.max_active_tasks is not None or one.task.run_limit is not None
            if limited and one.task.run_key not in self._open_runs:
                limits[one.task.run_key] = one.max_active_tasks
        if not limits:
            return set()
        locked = gates.lock_runs(self._conn, sorted(limits))
        self._open_runs |= locked.keys()
        for run_key, active in locked.items():
            limit = limits[run_key]
            if limit is not None:
                self._room.runs[run_key] = limit - active
        return limits.keys() - locked.keys()

    def _count_tasks(self, page: Sequence[Ready]) -> None:
        """Room of tasks with limits of their own; their runs and DAGs are locked."""
        limited = [
            task
            for one in page
            if (task := one.task).run_limit is not None or task.dag_limit is not None
        ]
        if not limited:
            return
        in_runs: dict[tuple[int, str], int] = {}
        in_dags: dict[tuple[str, str], int] = {}
        for dag_id, task_id, run_key, active in gates.active_by_task(
            self._conn, {(task.dag_id, task.task_id) for task in limited}
        ):
            in_runs[run_key, task_id] = active
            in_dags[dag_id, task_id] = in_dags.get((dag_id, task_id), 0) + active
        for task in limited:
            in_run, in_dag = (task.run_key, task.task_id), (task.dag_id, task.task_id)
            if task.run_limit is not None:
                room = task.run_limit - in_runs.get(in_run, 0)
                self._room.run_tasks.setdefault(in_run, room)
            if task.dag_limit is not None:
                room = task.dag_limit - in_dags.get(in_dag, 0)
                self._room.dag_tasks.setdefault(in_dag, room)

    def _lock_pools(self, names: Iterable[str]) -> set[str]:
        new = sorted(set(names) - self._open_pools)
        if not new:
            return set()
        sizes, held = gates.lock_pools(self._conn, new)
        self._open_pools |= set(new) - held
        used = gates.pool_use(self._conn, list(sizes)) if sizes else {}
        for name, slots in sizes.items():
            use = used.get(name, Use())
            self._room.sizes[name] = slots
            self._room.pools[name] = slots - use.slots
            if use.kept:
                self._kept.add(name)
        return held
