"""Arrow 3 of a task's life: ready tasks pass the limits that no single run can judge.

Locks DAGs that were woken or have a limit over their runs, then runs, then pools, each by key, and
counts in statements after the locks. What another scheduler holds is passed over; then the wake-up
stays, so that nobody has to remember anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from flow.decide import Candidate, Room, admit
from flow.roles.schedule.creation import start_woken
from flow.roles.schedule.graphs import Graphs
from flow.roles.schedule.write import Written
from flow.store import gates, runs, wakeups
from flow.store.connect import Conn, transaction
from flow.store.wakeups import Wakeup

BATCH: Final = 500
"""Wake-ups taken at once."""
PAGE: Final = 1_000
"""Ready tasks looked at in one statement."""
ENOUGH: Final = 5_000
"""Tasks queued in one transaction; the rest is left to the next."""


def admit_woken(conn: Conn, graphs: Graphs, heads: Graphs) -> Written | None:
    """Serve wake-ups of DAGs, pools and queues; None when there were none."""
    with transaction(conn, "schedule.admit"):
        taken = wakeups.take(conn, ["dag", "pool", "queue"], BATCH)
        if not taken:
            return None
        by_scope: dict[tuple[str, str], list[Wakeup]] = {}
        for wakeup in taken:
            by_scope.setdefault((wakeup.kind, wakeup.name or ""), []).append(wakeup)
        held = set()
        dags = [name for kind, name in by_scope if kind == "dag"]
        written = Written()
        if dags:
            written, busy = start_woken(conn, heads, dags)
            held |= {("dag", name) for name in busy}
        admission = _Admission(conn, graphs)
        for scope in sorted(by_scope.keys() - held):
            if admission.queued >= ENOUGH or not admission.serve(*scope):
                held.add(scope)
        written.queued += admission.queued
        wakeups.delete(conn, [w.id for s, ws in by_scope.items() if s not in held for w in ws])
        wakeups.postpone(conn, [w.id for s in held for w in by_scope[s]])
        return written


class _Held(NamedTuple):
    """What another transaction holds, so that what depends on it has to be looked at again."""

    dags: set[str]
    runs: set[int]
    pools: set[str]

    def has(self, one: Candidate) -> bool:
        return one.dag_id in self.dags or one.run_key in self.runs or one.pool in self.pools


class _Admission:
    """One transaction's admissions: locks taken, room counted under them."""

    def __init__(self, conn: Conn, graphs: Graphs) -> None:
        self._conn = conn
        self._graphs = graphs
        self._room = Room(served=gates.read(conn).served)
        self._open_runs: set[int] = set()
        self._open_dags: set[str] = set()
        self._open_pools: set[str] = set()
        self.queued = 0

    def serve(self, kind: str, name: str) -> bool:
        """Admit what is ready within a scope; False when its wake-up has to stay."""
        done = True
        for page in self._pages(kind, name):
            held = self._lock(page)
            mine = [one for one in page if one.run_key in self._open_runs and not held.has(one)]
            passed_over = [one for one in page if held.has(one)]
            done = done and all(self._room.refusal(one) is not None for one in passed_over)
            admitted = admit(mine, self._room)
            # Fewer rows than admitted: some were queued between our look and our lock, and the
            # room that was counted for them is still free.
            done = gates.queue(self._conn, admitted) == len(admitted) and done
            self.queued += len(admitted)
            if self._full(kind, name):
                return done
            if self.queued >= ENOUGH:
                return False
        return done

    def _pages(self, kind: str, name: str) -> Iterator[list[Candidate]]:
        after = None
        while True:
            page = gates.ready(
                self._conn,
                pool=name if kind == "pool" else None,
                dag=name if kind == "dag" else None,
                queue=name if kind == "queue" else None,
                after=after,
                limit=PAGE,
            )
            if page.candidates:
                yield page.candidates
            after = page.after
            if after is None:
                return

    def _full(self, kind: str, name: str) -> bool:
        """Whether nothing more can be admitted within the scope."""
        rooms = {"pool": self._room.pools, "dag": self._room.dags}.get(kind, {})
        return rooms.get(name, 1) < 1

    def _lock(self, page: Sequence[Candidate]) -> _Held:
        """Lock what the candidates need and count it; what somebody else holds of it."""
        dags = self._lock_dags({one.dag_id for one in page})
        runs = self._lock_runs({one.run_key: one.dag_id for one in page})
        return _Held(dags, runs, self._lock_pools({one.pool for one in page} - self._open_pools))

    def _lock_dags(self, dag_ids: Iterable[str]) -> set[str]:
        new = sorted(set(dag_ids) - self._open_dags)
        if not new:
            return set()
        limits, held = gates.lock_dags(self._conn, new)
        self._open_dags |= set(new) - held
        if limits:
            active = gates.active_in_dags(self._conn, list(limits))
            for dag_id, limit in limits.items():
                self._room.dags[dag_id] = limit - active.get(dag_id, 0)
        return held

    def _lock_runs(self, dag_of: dict[int, str]) -> set[int]:
        new = sorted(dag_of.keys() - self._open_runs)
        if not new:
            return set()
        locked = runs.lock(self._conn, new)
        found = self._graphs.get(self._conn, (run.spec_hash for run in locked))
        self._open_runs |= {run.run_key for run in locked}
        limited = {}
        for run in locked:
            graph = found[run.spec_hash]
            if run.paused:
                self._room.runs[run.run_key] = 0
            elif graph.spec.max_active_tasks < len(graph.tasks):
                limited[run.run_key] = graph.spec.max_active_tasks
        if limited:
            active = gates.active_in_runs(self._conn, [(key, dag_of[key]) for key in limited])
            for key, limit in limited.items():
                self._room.runs[key] = limit - active.get(key, 0)
        return runs.still_running(self._conn, [key for key in new if key not in self._open_runs])

    def _lock_pools(self, names: Iterable[str]) -> set[str]:
        new = sorted(names)
        if not new:
            return set()
        sizes, held = gates.lock_pools(self._conn, new, more=bool(self._room.pools))
        self._open_pools |= set(new) - held
        if sizes:
            used = gates.pool_use(self._conn, list(sizes))
            for name, slots in sizes.items():
                self._room.pools[name] = slots - used.get(name, 0)
        return held
