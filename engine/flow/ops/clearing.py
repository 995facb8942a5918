"""`flow clear`: tasks of runs are decided anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from flow.errors import Conflict, NotFound
from flow.graph import Graph
from flow.ops.clear_effects import announce, write
from flow.ops.clear_plan import ClearedRun, Planned, plan
from flow.ops.clear_targets import (
    Pinned,
    Wish,
    find_targets,
    keeps_code,
    pinned,
    require_instances,
    to_have,
    touched,
)
from flow.ops.deployment import Deployment
from flow.ops.references import find_dags_like, load_graphs, require_present
from flow.ops.run_ranges import find_runs_of
from flow.ops.run_targets import made_anew
from flow.ops.task_conditions import TaskCondition, read_condition
from flow.store import backfills, clock, instances, run_locks, stopping
from flow.store.connect import Conn
from flow.store.instances import Instance, Key
from flow.store.read import dags as stored_dags
from flow.store.read import runs as stored_runs
from flow.store.read import tasks as stored_tasks
from flow.store.read.dags import StoredDag
from flow.store.read.runs import FoundRun
from flow.store.read.tasks import Task
from flow.timetables.zone import load_zone

__all__ = ["Clearing", "Wish", "clear", "preview"]


class Clearing(NamedTuple):
    """What clearing did, or would do. Runs without anything to clear are left out.

    A run that had ended is queued, and starts as the limit of active runs of its DAG allows, unless
    that is paused. `dags` are those that were looked at. `vanished` are tasks that fit, in runs
    that are left out because the version they were to have lacks them, `codeless` those of them
    that could not run with their own version either: their code is not in the file any more.
    """

    dags: list[StoredDag]
    looked_at: list[FoundRun]
    runs: list[ClearedRun]
    vanished: list[str]
    codeless: list[str]

    @property
    def changes(self) -> int:
        """How many task instances are cleared."""
        return sum(len(run.tasks) for run in self.runs)

    @property
    def cleared(self) -> list[FoundRun]:
        """The runs of which something is cleared, as they were looked at."""
        names = {(run.dag_id, run.run_id) for run in self.runs}
        return [one for one in self.looked_at if (one.run.dag_id, one.run.run_id) in names]


class _Scope(NamedTuple):
    """The DAGs that a wish is about, by id, and its condition in the time zone of each.

    `default_code` is what `dags.code` says.
    """

    dags: dict[str, StoredDag]
    conditions: dict[str, TaskCondition]
    default_code: str

    def fits_run(self, one: FoundRun) -> bool:
        """Whether tasks of a run may fit: of one that somebody has agreed to, still."""
        if one.run.dag_id not in self.dags:
            return False
        condition = self.conditions.get(one.run.dag_id)
        return condition is None or condition.fits_run(one.run)


class _Look(NamedTuple):
    planned: list[Planned]
    vanished: list[str]
    codeless: list[str]


def preview(deployment: Deployment, wish: Wish) -> Clearing:
    """What clearing would do now. Raises what `clear` raises."""
    conn = deployment.conn
    with deployment.snapshot():
        scope = _scope(deployment, wish)
        found = _find(conn, scope, wish)
        return _shown(scope, found, _look(conn, scope, found, wish))


def clear(deployment: Deployment, wish: Wish, confirmed: Clearing | None = None) -> Clearing:
    """Clear task instances: their tasks get a full new set of tries, their numbers only grow.

    A running one is stopped, and runs again once its process is dead. A run that had ended goes
    back to the queue. `confirmed` is what somebody has agreed to: then exactly that is done, or
    nothing. Raises `NotFound`, and `Conflict` for archived runs, a DAG that is gone, and when
    something else than `confirmed` would be done.
    """
    conn = deployment.conn
    with deployment.change("clear") as change:
        scope = _scope(deployment, wish)
        found = confirmed.looked_at if confirmed else _find(conn, scope, wish)
        found = _lock(conn, found)
        look = _look(conn, scope, found, wish, lock=True)
        done = _shown(scope, found, look)
        if confirmed is not None and _what(confirmed) != _what(done):
            raise Conflict(
                "what would be cleared is not what was shown any more: the runs have gone on",
                "look again; with --yes it is done as it is at that moment",
            )
        if look.planned:
            write(conn, look.planned)
            announce(change, look.planned)
    return done


def _scope(deployment: Deployment, wish: Wish) -> _Scope:
    conn = deployment.conn
    dags = {dag.dag_id: dag for dag in find_dags_like(conn, wish.dag)}
    for dag in dags.values():
        require_present(dag, "its tasks cannot run again")
    conditions = {}
    if wish.which.where is not None:
        now = clock.now(conn)
        conditions = {
            dag.dag_id: read_condition(wish.which.where, load_zone(dag.timezone), now)
            for dag in dags.values()
        }
    return _Scope(dags, conditions, deployment.settings.dags.code)


def _find(conn: Conn, scope: _Scope, wish: Wish) -> list[FoundRun]:
    """The runs that the wish names, by DAG, of each the oldest first; at least one."""
    which = wish.which if wish.which.reference is None else wish.which._replace(where=None)
    found, missing = [], []
    for dag in scope.dags.values():
        condition = scope.conditions.get(dag.dag_id)
        fits = condition.fits_run if condition else None
        try:
            found += find_runs_of(conn, dag, which, fits)
        except NotFound as error:
            missing.append(error)
    if missing and not found:
        raise missing[0]
    return found


def _lock(conn: Conn, found: Sequence[FoundRun]) -> list[FoundRun]:
    """The runs as they are once nobody else holds them, without those that were deleted."""
    run_keys = [one.run_key for one in found]
    backfills.hold(conn, run_keys)
    run_locks.lock(conn, run_keys)
    now = stored_runs.by_keys(conn, run_keys)
    return [now[run_key] for run_key in run_keys if run_key in now]


def _look(
    conn: Conn, scope: _Scope, found: Sequence[FoundRun], wish: Wish, *, lock: bool = False
) -> _Look:
    fitting = [one for one in found if scope.fits_run(one)]
    _require_rows(fitting)
    latest = {scope.dags[one.run.dag_id].spec_hash for one in fitting}
    graphs = load_graphs(conn, latest | {one.spec_hash for one in fitting})
    other_code = _with_other_code(conn, scope, fitting, graphs, wish)
    targets = find_targets(scope.dags, fitting, graphs, wish, scope.default_code, other_code)
    fitting = [one for one in fitting if pinned(one) in targets]
    run_keys = [one.run_key for one in fitting]
    if lock:
        instances.lock(conn, run_keys, touched(fitting, graphs, targets))
    rows = instances.read(conn, run_keys)
    require_instances(fitting, targets, rows)
    being_stopped = stopping.of_runs(conn, run_keys)
    details = _details(conn, scope, fitting, graphs)
    look = _Look([], [], [])
    for one in fitting:
        target, here = targets[pinned(one)], rows[one.run_key]
        fits = _fitting(scope, one, wish, details)
        planned = plan(one, graphs[one.spec_hash], target, here, fits, being_stopped)
        if planned is not None:
            look.planned.append(planned)
        elif wish.tasks is None:
            missing = (row for row in here if row.task_id not in target.graph.tasks)
            vanished = [row.task_id for row in missing if fits(row)]
            look.vanished.extend(vanished)
            if not keeps_code(graphs[one.spec_hash], scope.default_code):
                look.codeless.extend(vanished)
    return look


def _with_other_code(
    conn: Conn,
    scope: _Scope,
    found: Sequence[FoundRun],
    graphs: Mapping[str, Graph],
    wish: Wish,
) -> set[Pinned]:
    """The versions that runs are to have, that keep their code, and whose code is not there now."""
    wanted = {to_have(one, scope.dags, wish) for one in found}
    keeping = {
        version
        for version, spec_hash in wanted
        if keeps_code(graphs[spec_hash], scope.default_code)
    }
    return stored_dags.with_other_code(conn, keeping) if keeping else set()


def _details(
    conn: Conn, scope: _Scope, found: Sequence[FoundRun], graphs: Mapping[str, Graph]
) -> dict[Key, Task]:
    """All that is known of the task instances of runs, where a condition asks for it."""
    asking = {dag_id for dag_id, condition in scope.conditions.items() if condition.of_tasks}
    own = {one.run_key: graphs[one.spec_hash] for one in found if one.run.dag_id in asking}
    if not own:
        return {}
    rows = stored_tasks.of_runs(conn, list(own))
    specs = {key: own[key[0]].tasks.get(key[1]) for key in rows}
    return {
        key: row._replace(operator=spec.operator) if (spec := specs[key]) else row
        for key, row in rows.items()
    }


def _fitting(
    scope: _Scope, found: FoundRun, wish: Wish, details: dict[Key, Task]
) -> Callable[[Instance], bool]:
    """Whether an instance of a run is in one of the states, and fits the condition."""
    condition = scope.conditions.get(found.run.dag_id)

    def fits(one: Instance) -> bool:
        if wish.states is not None and one.state not in wish.states:
            return False
        if condition is None or not condition.of_tasks:
            return True
        return condition.fits_task(found.run, details[one.key])

    return fits


def _require_rows(found: Sequence[FoundRun]) -> None:
    archived = [one.run for one in found if one.archived]
    if archived:
        which = (
            f"run {archived[0].run_id!r} is archived, so its tasks"
            if len(found) == 1
            else f"{len(archived)} of {len(found)} runs are archived, so their tasks"
        )
        raise Conflict(
            f"{which} cannot be cleared",
            made_anew(archived[0].dag_id, archived[0].run_id),
        )


def _shown(scope: _Scope, found: Sequence[FoundRun], look: _Look) -> Clearing:
    shown = [one.shown for one in look.planned]
    vanished, codeless = sorted(set(look.vanished)), sorted(set(look.codeless))
    return Clearing(list(scope.dags.values()), list(found), shown, vanished, codeless)


def _what(clearing: Clearing) -> object:
    """What somebody agrees to: which instances of which runs and versions, not their states."""
    return [
        (
            run.dag_id,
            run.run_id,
            run.version,
            [(one.task_id, one.map_index) for one in run.tasks],
            [(one.task_id, one.map_index) for one in run.dropped],
            run.added,
            run.codeless,
        )
        for run in clearing.runs
    ]
