"""What `flow clear` does, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from flow.enumeration import few
from flow.task_reference import task_reference
from flow.wording.cells import counted
from flow.wording.run_changes import dags, name
from flow.wording.task_changes import IN_FULL

if TYPE_CHECKING:
    from flow.ops.clear_plan import Cleared, ClearedRun
    from flow.ops.clearing import Clearing
    from flow.store.read.dags import StoredDag
    from flow.store.read.runs import Run


def describe(clearing: Clearing) -> list[str]:
    """Every run, and what becomes of its tasks; of many runs what they have in common once."""
    if len(clearing.runs) <= IN_FULL:
        return [
            line
            for run in clearing.runs
            for line in (_heading(clearing, run), *map(_task, run.tasks), *_by_version(run))
        ]
    lines = [
        line for run in clearing.runs for line in (_heading(clearing, run), _counted(run.tasks))
    ]
    for same in _alike(clearing):
        runs = counted(len(same), "run")
        lines += [f"{same[0].dag_id}{_version(same[0])}, {runs}:", *_by_version(same[0])]
    return lines


def question(clearing: Clearing) -> str:
    """What somebody has to agree to."""
    tasks, runs = counted(clearing.changes, "task"), counted(len(clearing.runs), "run")
    return f"Clear {tasks} of {runs} of {dags(clearing)}?"


def notes(clearing: Clearing) -> list[str]:
    """What is not cleared, and when the runs start."""
    return [*_stays(clearing), *_turns(clearing)]


def cautions(clearing: Clearing) -> list[str]:
    """What somebody should know before agreeing: which tasks could not run, and what to do."""
    versions = {dag.dag_id: dag.version for dag in clearing.dags}
    told = {
        (run.dag_id, run.version, one.ends_as): None
        for run in clearing.runs
        for one in run.codeless
    }
    return [_what_to_do(*of, latest=of[1] == versions[of[0]]) for of in told]


def warnings(clearing: Clearing) -> list[str]:
    """What keeps the runs from starting until somebody lets them."""
    return [*_held_back(clearing), *_paused_dags(clearing)]


def nothing(clearing: Clearing) -> list[str]:
    """That there is nothing to clear, and what would have fitted."""
    looked_at = counted(len(clearing.looked_at), "run")
    of = clearing.dags[0].dag_id if len(clearing.dags) == 1 else counted(len(clearing.dags), "DAG")
    lines = [f"nothing to clear in {looked_at} of {of}"]
    kept = [task_id for task_id in clearing.vanished if task_id not in clearing.codeless]
    if kept:
        lines.append(
            f"{few(kept)} would fit, but the latest version does not have it; "
            "--version run clears it in the version that the run has"
        )
    if clearing.codeless:
        lines.append(
            f"{few(clearing.codeless)} would fit, but the latest version does not have it, and its "
            "code is gone from the file: it stays as it ended"
        )
    return lines


def look_at(clearing: Clearing) -> str:
    """The command that shows how the runs are doing."""
    ids = {run.dag_id for run in clearing.runs}
    return f"flow runs list {next(iter(ids))}" if len(ids) == 1 else "flow runs list"


def ended(run: Run) -> str:
    """A line about a run that has ended; of a failure with the command that says why."""
    line = f"{run.dag_id} {run.run_id}: {run.state}"
    return f"{line}: flow why {run.dag_id} {run.run_id}" if run.state == "failed" else line


def _stays(clearing: Clearing) -> Iterator[str]:
    stays = list(dict.fromkeys(task for run in clearing.runs for task in run.stays))
    if stays:
        yield (
            f"{few(stays)} did not run because of an earlier end and stay so; "
            "--downstream clears them too"
        )


def _turns(clearing: Clearing) -> Iterator[str]:
    for dag in clearing.dags:
        if not dag.paused and _queued(clearing, dag) > dag.max_active_runs:
            of = "they" if len(clearing.dags) == 1 else f"those of {dag.dag_id}"
            yield f"{of} start oldest first, {dag.max_active_runs} at a time (max_active_runs)"


def _held_back(clearing: Clearing) -> Iterator[str]:
    paused = [name(clearing, run) for run in clearing.runs if run.paused]
    if paused:
        yield f"paused, to go on after `flow runs resume`: {few(paused)}"


def _paused_dags(clearing: Clearing) -> Iterator[str]:
    for dag in clearing.dags:
        if dag.paused and _queued(clearing, dag):
            yield (
                f"DAG {dag.dag_id} is paused: its queued runs start after "
                f"`flow dags unpause {dag.dag_id}`"
            )


def _queued(clearing: Clearing, dag: StoredDag) -> int:
    return sum(run.after == "queued" for run in clearing.runs if run.dag_id == dag.dag_id)


def _heading(clearing: Clearing, run: ClearedRun) -> str:
    state = run.before if run.before == run.after else f"{run.before} -> {run.after}"
    return f"{name(clearing, run)}: {state}{_version(run)}"


def _version(run: ClearedRun) -> str:
    if run.version != run.version_before:
        return f", version {run.version_before} -> {run.version}"
    return f", version {run.version}"


def _counted(tasks: Sequence[Cleared]) -> str:
    counts = Counter(str(task.before) for task in tasks)
    states = ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))
    return f"  {counted(len(tasks), 'task')}: {states}"


def _alike(clearing: Clearing) -> list[list[ClearedRun]]:
    """Runs with the same to say about their new version, without those that have nothing."""
    groups: dict[tuple[object, ...], list[ClearedRun]] = {}
    for run in clearing.runs:
        if lines := _by_version(run):
            key = run.dag_id, run.version_before, run.version, *lines
            groups.setdefault(key, []).append(run)
    return list(groups.values())


def _by_version(run: ClearedRun) -> list[str]:
    """What the version that a run is to have makes of its tasks."""
    lines = [f"{_task(task)}, not in version {run.version}" for task in run.dropped]
    lines += [f"  {task_id}: stays, not in version {run.version}" for task_id in run.vanished]
    lines += [f"  {task_id}: new in version {run.version}" for task_id in run.added]
    lines += [
        f"  {task.task_id}: changed in version {run.version}: {', '.join(task.fields)}"
        for task in run.changed
    ]
    ends = dict.fromkeys(one.ends_as for one in run.codeless)
    return lines + [_codeless(run, end) for end in ends]


def _codeless(run: ClearedRun, end: str) -> str:
    tasks = few([one.task_id for one in run.codeless if one.ends_as == end])
    why = (
        "gone from the DAG file"
        if end == "code_missing"
        else f"the DAG file has other code than version {run.version}"
    )
    return f"  {tasks}: would end as {end}, {why}"


def _what_to_do(dag_id: str, version: int, end: str, *, latest: bool) -> str:
    if latest:
        return (
            f"the file of {dag_id} has changed since version {version}, its latest, and could not "
            "be imported: mend it first, see `flow dags errors`"
        )
    if end == "code_missing":
        return (
            f"the file of {dag_id} does not have all tasks of version {version} any more: put them "
            "back before they run, or leave --version run out: then they stay as they ended"
        )
    return (
        f"the code of version {version} of {dag_id} is not in its file any more: put it back where "
        "workers run it, or go on with the latest: --version latest"
    )


def _task(task: Cleared) -> str:
    held = ", held" if task.held else ""
    return f"  {task_reference(task.task_id, task.map_index)}: {task.before} -> {task.after}{held}"
