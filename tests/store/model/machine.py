"""Schedulers, workers and operators on one database, each cut into single statements."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from model.reference import RUN_FINAL, Reference, TaskId
from model.shapes import Dag, dags, spec
from model.stage import Stage
from model.stepped import Order, Where
from model.workers import Host

from flow.ops import cancelling, clearing, marks, pausing, pools, running
from flow.ops.deployment import Deployment
from flow.ops.run_ranges import Which
from flow.roles.schedule.rescue import ROLES, Watch, rescue
from flow.roles.schedule.role import Scheduler, Settings
from flow.roles.schedule.sweep import sweep
from flow.states import TaskState
from flow.store import processes
from flow.store.connect import Conn
from operations_world import World

LONG = 400
"""Statements in a whole piece of work, at most."""
ENDS = ("success", "failed", "skipped", "success", "fatal", "success")
MOMENTS = ("claim_tasks", "report_tries", "commit")
MARKS = ("success", "failed", "skipped")


class Machine(RuleBasedStateMachine):
    """Everything drawn is a number or a DAG, whatever the state is: a rule that does not fit does
    nothing, so that the same choices mean the same again.
    """

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self.stage = stage
        self.begun = False

    @initialize(plain=dags(intervals=0), daily=dags(intervals=3), slots=st.integers(1, 2))
    def begin(self, plain: Dag, daily: Dag, slots: int) -> None:
        self.shapes = {"plain": plain, "daily": daily}
        world = World(self.stage.dsn, self.stage.conn, self.stage.clear())
        self.settings = world.deployment.settings
        self.stage.observer.execute(
            "insert into pool (name, slots) values ('narrow', %s)", (slots,)
        )
        self.stage.reference = Reference(self.shapes, {"default_pool": -1, "narrow": slots})
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        for dag_id, dag in self.shapes.items():
            world.define(
                dag_id,
                [spec(task_id, node) for task_id, node in dag.nodes.items()],
                schedule="@daily" if dag.intervals else None,
                start_date=today - timedelta(days=dag.intervals) if dag.intervals else None,
                end_date=today - timedelta(days=1) if dag.intervals else None,
                catchup=True,
                file=f"/dags/{dag_id}.py",
                max_active_runs=dag.max_active_runs,
                max_active_tasks=dag.max_active_tasks,
                concurrency=dag.concurrency,
            )
        self.begun = True
        self._operate(0, lambda d: running.run(d, running.Wish("plain")), None, LONG)
        assert self.stage.reference.runs
        self.stage.begin(self.stage.of("scheduler", 0), self._pass, LONG)

    # ── what happens ─────────────────────────────────────────────────────────────────────────────

    @rule(who=st.integers(0, 1), steps=st.integers(1, LONG))
    def schedule(self, who: int, steps: int) -> None:
        """A pass of a scheduler, as far as so many statements."""
        self.stage.begin(self.stage.of("scheduler", who), self._pass, steps)

    @rule(who=st.integers(0, 1), steps=st.integers(1, 30))
    def sweep(self, who: int, steps: int) -> None:
        """The sweep that repairs: it has to find nothing."""
        self.stage.begin(self.stage.of("scheduler", who), _sweep, steps)

    @rule(who=st.integers(0, 1), steps=st.integers(1, 30), beats=st.booleans())
    def work(self, who: int, steps: int, beats: bool) -> None:
        """A turn of a worker: it claims, reports, and if it beats it learns what counts."""
        party = self.stage.of("worker", who)
        assert party.seat is not None
        self.stage.begin(party, party.seat.beat if beats else party.seat.turn, steps)

    @rule(orders=st.lists(st.integers(0, 99), min_size=1, max_size=4))
    def go_about(self, orders: list[int]) -> None:
        """Everybody does a whole piece of work, and some processes end."""
        for order in orders:
            for party in self.stage.parties:
                if party.kind == "scheduler":
                    self.stage.begin(party, self._pass, LONG)
                elif party.seat is not None:
                    self.stage.begin(party, party.seat.beat if order % 2 else party.seat.turn, LONG)
            self._end_process(order, order, order)

    @rule(who=st.integers(0, 1), which=st.integers(0, 9), how=st.integers(0, 99))
    def end_process(self, who: int, which: int, how: int) -> None:
        """A process ends: as it likes, or because it was told to."""
        self._end_process(who, which, how)

    def _end_process(self, who: int, which: int, how: int) -> None:
        host = self._host(who)
        if host.jobs:
            job_id = sorted(host.jobs)[which % len(host.jobs)]
            self._end(host, job_id, ENDS[how % len(ENDS)], skip=how > 80)

    @rule(who=st.integers(0, 5), steps=st.integers(1, 12))
    def go_on(self, who: int, steps: int) -> None:
        """Somebody goes on with what he has begun."""
        self.stage.go(self.stage.parties[who], steps)

    @rule(who=st.integers(0, 5))
    def go_to_the_end(self, who: int) -> None:
        self.stage.go(self.stage.parties[who], LONG)

    @rule(who=st.integers(0, 5), steps=st.integers(0, 6))
    def cut(self, who: int, steps: int) -> None:
        """Somebody's line breaks, in the midst of a transaction or before it."""
        self.stage.go(self.stage.parties[who], steps)
        self.stage.go(self.stage.parties[who], 1, Order.CUT)

    @rule(who=st.integers(0, 5))
    def lose_answer(self, who: int) -> None:
        """Somebody's next commit is carried out, and he does not learn it."""
        party = self.stage.parties[who]
        for _ in range(LONG):
            if party.actor.where is Where.BEFORE and party.actor.statement != "commit":
                self.stage.step(party)
        if party.actor.where is Where.BEFORE:
            self.stage.step(party, Order.LOSE)

    @rule(who=st.integers(0, 1), by=st.integers(0, 1), steps=st.integers(1, LONG))
    def silence(self, who: int, by: int, steps: int) -> None:
        """A worker is not heard of: its lease runs out, and a scheduler takes it for lost."""
        self._silence(who, by, steps)

    def _silence(self, who: int, by: int, steps: int) -> None:
        self._host(who).expire()
        process_id = self._host(who).process_id
        if process_id:
            self.stage.processes.gone.add(process_id)
            self.stage.begin(self.stage.of("scheduler", by), partial(_rescue, process_id), steps)

    @rule(who=st.integers(0, 1), how=st.integers(0, 99), before=st.sampled_from(MOMENTS))
    def lose_in_the_midst(self, who: int, how: int, before: str) -> None:
        """A worker stands still before a statement; taken for lost, it goes on when another one has
        got what it had.
        """
        party, other = self.stage.of("worker", who), self.stage.of("worker", who + 1)
        assert party.seat is not None
        assert other.seat is not None
        self._finish()
        self._operate(0, lambda d: running.run(d, running.Wish("plain")), None, LONG)
        self._schedule()
        self.stage.begin(party, party.seat.beat, LONG)
        self._end_process(who, how, how)
        self._schedule()
        self.stage.begin(party, party.seat.turn, 0)
        self.stage.go_before(party, before)
        self._silence(who, 0, LONG)
        self._schedule()
        self.stage.begin(other, other.seat.beat, LONG)
        self.stage.go(party, LONG)

    def _schedule(self) -> None:
        """Two passes of each scheduler: what is decided in one may be admitted in the next."""
        for number in range(4):
            self.stage.begin(self.stage.of("scheduler", number), self._pass, LONG)

    @rule(who=st.integers(0, 1))
    def kill_worker(self, who: int) -> None:
        """A worker dies with all its processes; another one will begin in its place."""
        party = self.stage.of("worker", who)
        assert party.seat is not None
        self.stage.go(party, LONG, Order.CUT)
        if party.idle:
            party.seat.die()

    @rule(who=st.integers(0, 1))
    def kill_zygote(self, who: int) -> None:
        self._host(who).die()

    @rule(who=st.integers(0, 1))
    def drain(self, who: int) -> None:
        """A worker is to end what it has, and itself."""
        party = self.stage.of("worker", who)
        assert party.seat is not None
        party.seat.ending = True

    @rule(by=st.integers(0, 1), daily=st.booleans(), steps=st.integers(1, LONG))
    def make_run(self, by: int, daily: bool, steps: int) -> None:
        wish = running.Wish("daily" if daily else "plain")
        self._operate(by, lambda d: running.run(d, wish), None, steps)

    @rule(
        by=st.integers(0, 1), which=st.integers(0, 9), task=st.integers(0, 9),
        state=st.integers(0, 2), steps=st.integers(1, LONG),
    )  # fmt: skip
    def mark(self, by: int, which: int, task: int, state: int, steps: int) -> None:
        id = self._task(which, task)
        if id is not None:
            self._mark(by, id, MARKS[state], steps)

    @rule(
        by=st.integers(0, 1), which=st.integers(0, 9), task=st.integers(0, 9),
        extent=st.integers(0, 2), steps=st.integers(1, LONG),
    )  # fmt: skip
    def clear(self, by: int, which: int, task: int, extent: int, steps: int) -> None:
        """One task, one with all that follows, or a whole run."""
        id = self._task(which, task)
        if id is None:
            return
        dag = self.shapes[id.run.dag_id]
        chosen = [{id.task_id}, dag.below(id.task_id), set(dag.nodes)][extent]
        wish = clearing.Wish(
            id.run.dag_id,
            Which(id.run.run_id),
            tasks=None if extent == 2 else id.task_id,
            downstream=extent == 1,
        )
        self._operate(
            by,
            lambda d: clearing.clear(d, wish),
            lambda: self.stage.reference.clear(id.run, chosen),
            steps,
        )

    @rule(by=st.integers(0, 1), which=st.integers(0, 9), steps=st.integers(1, LONG))
    def cancel(self, by: int, which: int, steps: int) -> None:
        id = self._task(which, 0)
        if id is not None:
            run = id.run
            self._operate(
                by,
                lambda d: cancelling.cancel(d, run.dag_id, Which(run.run_id)),
                lambda: self.stage.reference.cancel(run),
                steps,
            )

    @rule(by=st.integers(0, 1), slots=st.integers(-1, 3), steps=st.integers(1, LONG))
    def resize(self, by: int, slots: int, steps: int) -> None:
        self._resize(by, slots, steps)

    @rule(by=st.integers(0, 1), daily=st.booleans(), on=st.booleans(), steps=st.integers(1, LONG))
    def pause(self, by: int, daily: bool, on: bool, steps: int) -> None:
        self._pause(by, "daily" if daily else "plain", on, steps)

    # ── how it is done ───────────────────────────────────────────────────────────────────────────

    def _pass(self, conn: Conn) -> int:
        settings = Settings(dsn=self.stage.dsn, listen_dsn=self.stage.dsn, version="test")
        return Scheduler(settings, conn).run_once()

    def _host(self, who: int) -> Host:
        seat = self.stage.of("worker", who).seat
        assert seat is not None
        return seat.host

    def _end(self, host: Host, job_id: int, how: str, *, skip: bool = False) -> None:
        one = host.jobs[job_id]
        below: tuple[str, ...] = ()
        if one.id is not None and skip and how == "success":
            dag = self.shapes[one.id.run.dag_id]
            below = tuple(
                task_id for task_id, node in dag.nodes.items() if one.id.task_id in node.above
            )[:1]
        host.end(job_id, "drained" if one.told_to_stop else how, below)

    def _task(self, which: int, task: int) -> TaskId | None:
        runs = sorted(self.stage.reference.runs)
        if not runs:
            return None
        run = runs[which % len(runs)]
        ids = list(self.shapes[run.dag_id].nodes)
        return TaskId(run, ids[task % len(ids)])

    def _operate(
        self,
        by: int,
        operation: Callable[[Deployment], object],
        effect: Callable[[], object] | None,
        steps: int,
    ) -> None:
        party = self.stage.of("operator", by)
        if party.idle:
            party.effect = effect
            self.stage.begin(party, lambda conn: operation(Deployment(self.settings, conn)), steps)

    def _mark(self, by: int, id: TaskId, state: str, steps: int) -> None:
        self._operate(
            by,
            lambda d: marks.mark(
                d, id.run.dag_id, Which(id.run.run_id), id.task_id, TaskState(state)
            ),
            lambda: self.stage.reference.mark(id, state),
            steps,
        )

    def _resize(self, by: int, slots: int, steps: int) -> None:
        self._operate(
            by,
            lambda d: pools.set_(d, "narrow", slots),
            lambda: self.stage.reference.pools.update(narrow=slots),
            steps,
        )

    def _pause(self, by: int, dag_id: str, on: bool, steps: int) -> None:
        change = self.stage.reference.paused.add if on else self.stage.reference.paused.discard
        verb: Callable[[Deployment, list[str]], Any] = pausing.pause if on else pausing.unpause
        self._operate(by, lambda d: verb(d, [dag_id]), lambda: change(dag_id), steps)

    # ── the end ──────────────────────────────────────────────────────────────────────────────────

    def teardown(self) -> None:
        try:
            if self.begun and self.stage.sound:
                self._let_all_end()
        finally:
            for party in self.stage.parties:
                party.actor.abandon()
                if party.seat is not None:
                    party.seat.close()

    def _let_all_end(self) -> None:
        """Nothing disturbs any more: every run comes to its end, and to the right one."""
        self._finish()
        for dag_id in self.shapes:
            self._pause(0, dag_id, False, LONG)
        self._resize(0, 2, LONG)
        while True:
            self._run_to_idle()
            blockers = self.stage.reference.waiting_for_past()
            if not blockers:
                break
            self._mark(0, blockers[0], "success", LONG)
        left = {
            id: run.state
            for id, run in self.stage.reference.runs.items()
            if run.state not in RUN_FINAL
        }
        assert not left, f"these runs never end: {left}"
        for id, task in self.stage.reference.all_tasks():
            assert "running" not in task.tries.values(), f"{id} has an open try"
        dates = [run.logical_date for run in self.stage.reference.runs.values() if run.interval_run]
        assert len(dates) == len(set(dates)) == self.shapes["daily"].intervals
        assert all(
            worker in self.stage.reference.over
            for _, worker in self.stage.reference.stopping.values()
        )

    def _finish(self) -> None:
        """Everybody ends what he has begun."""
        while not all(party.idle for party in self.stage.parties):
            for party in self.stage.parties:
                self.stage.go(party, LONG)

    def _run_to_idle(self) -> None:
        for _ in range(200):
            before = len(self.stage.reference.moments)
            busy = False
            for party in self.stage.parties:
                if party.kind == "scheduler":
                    self.stage.begin(party, self._pass, LONG)
                elif party.seat is not None:
                    busy = busy or bool(party.seat.host.jobs)
                    for job_id in sorted(party.seat.host.jobs):
                        self._end(party.seat.host, job_id, "success")
                    self.stage.begin(party, party.seat.beat, LONG)
                assert party.idle
            moved = self.stage.reference.moments[before:]
            last = self.stage.reference.moments[before - 1]
            if not busy and all(moment == last for moment in moved) and not self._woken():
                self.stage.begin(self.stage.of("scheduler", 0), _sweep, LONG)
                return
        raise AssertionError("it never comes to rest")

    def _woken(self) -> bool:
        [found] = self.stage.observer.execute("select exists (select from wakeup)").fetchone() or [
            True
        ]
        return bool(found)


def _sweep(conn: Conn) -> None:
    assert sweep(conn, 600.0) == 0, "the repairing sweep has found something"


def _rescue(process_id: int, conn: Conn) -> None:
    """What a scheduler does that has seen nothing of a process for long enough."""
    watch = Watch(pace=1e6)
    watch.overdue(
        [one for one in processes.alive(conn, ROLES) if one.process_id == process_id], 0.0
    )
    rescue(conn, watch, 1e6)
