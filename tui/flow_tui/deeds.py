"""What actions do: the command that does the same, a look at what it would do, and doing it.

The look and the deed are the operations behind that command, told in its words.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from flow_tui.targets import Target

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment
    from flow.ops.run_ranges import Which
    from flow.states import RunState, TaskState


class Plan(NamedTuple):
    """What a deed would do now. Nothing to `carry_out`: it would change nothing."""

    lines: list[str]
    question: str
    carry_out: Callable[[Deployment], list[str]] | None


class Deed(NamedTuple):
    """One command and its operation."""

    command: str
    look: Callable[[Deployment], Plan]


@dataclass(frozen=True, slots=True)
class ClearOptions:
    """The choices of `flow clear`."""

    upstream: bool = False
    downstream: bool = False
    only_failed: bool = False
    own_version: bool = False


def command(*words: str | None) -> str:
    """A line to paste into a shell; words that are None are left out."""
    return shlex.join(("flow", *(word for word in words if word is not None)))


class Runs(NamedTuple):
    """Runs of one DAG, with a selection of tasks that is the same in all of them, or none."""

    dag_id: str
    run_ids: tuple[str, ...]
    tasks: tuple[str, ...] = ()

    @property
    def which(self) -> Which:
        """The runs as operations take them."""
        from flow.ops.run_ranges import Which

        if len(self.run_ids) == 1:
            return Which(reference=self.run_ids[0])
        return Which(where=self._condition)

    @property
    def words(self) -> tuple[str, ...]:
        """The runs as the command line takes them, after the DAG."""
        if len(self.run_ids) == 1:
            return self.run_ids
        return ("--where", self._condition)

    @property
    def selection(self) -> str | None:
        """The tasks as `-t` takes them; None: all."""
        return ",".join(self.tasks) or None

    @property
    def _condition(self) -> str:
        return "run=" + ",".join(self.run_ids)


def by_run(targets: Iterable[Target]) -> list[Runs]:
    """Runs and tasks, put together as far as one command can name them."""
    tasks: dict[tuple[str, str], list[str]] = {}
    for target in targets:
        dag_id, run_id, *rest = target.words
        tasks.setdefault((dag_id, run_id), []).extend(rest)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (dag_id, run_id), names in tasks.items():
        alike.setdefault((dag_id, tuple(dict.fromkeys(names))), []).append(run_id)
    return [Runs(dag_id, tuple(ids), names) for (dag_id, names), ids in alike.items()]


# ── DAGs ─────────────────────────────────────────────────────────────────────────────────────────


def pause(targets: Sequence[Target]) -> list[Deed]:
    """`flow dags pause`."""
    dag_ids = [target.words[0] for target in targets]

    def look(deployment: Deployment) -> Plan:
        return Plan(
            [f"{dag_id}: no new run starts; runs that have started go on" for dag_id in dag_ids],
            f"Pause {_counted(dag_ids, 'DAG')}?",
            carry_out,
        )

    def carry_out(deployment: Deployment) -> list[str]:
        from flow.ops import pausing

        done = pausing.pause(deployment, dag_ids)
        return [f"{one.dag_id} is paused" for one in done]

    return [Deed(command("dags", "pause", *dag_ids), look)]


def unpause(targets: Sequence[Target]) -> list[Deed]:
    """`flow dags unpause`, with what it is going to create."""
    dag_ids = [target.words[0] for target in targets]

    def look(deployment: Deployment) -> Plan:
        from flow.ops import pausing
        from flow.wording.pausing import consequences

        found = pausing.unpause(deployment, dag_ids, dry_run=True)
        lines = [line for one in found for line in consequences(one)]
        return Plan(lines, f"Unpause {_counted(dag_ids, 'DAG')}?", carry_out)

    def carry_out(deployment: Deployment) -> list[str]:
        from flow.ops import pausing
        from flow.wording.pausing import consequences

        return [line for one in pausing.unpause(deployment, dag_ids) for line in consequences(one)]

    return [Deed(command("dags", "unpause", *dag_ids), look)]


def run(targets: Sequence[Target]) -> list[Deed]:
    """`flow run`: an ad hoc run of each DAG."""
    return [_run(target.words[0]) for target in targets]


def _run(dag_id: str) -> Deed:
    def look(deployment: Deployment) -> Plan:
        lines = [f"{dag_id}: a run of its own, with the last complete interval"]
        return Plan(lines, f"Run {dag_id} now?", carry_out)

    def carry_out(deployment: Deployment) -> list[str]:
        from flow.ops import running
        from flow.ops.running import Wish

        made = running.run(deployment, Wish(dag_id, None, None, None, None)).found.run
        return [f"{dag_id}: {made.run_id} is {made.state}"]

    return Deed(command("run", dag_id), look)


# ── runs and tasks ───────────────────────────────────────────────────────────────────────────────


def clear(targets: Sequence[Target], options: ClearOptions | None = None) -> list[Deed]:
    """`flow clear` of runs, or of tasks in them."""
    return [_clear(runs, options or ClearOptions()) for runs in by_run(targets)]


def _clear(runs: Runs, options: ClearOptions) -> Deed:
    def wish() -> Any:
        from flow.ops import clearing
        from flow.states import TaskState

        failed = {TaskState.FAILED, TaskState.UPSTREAM_FAILED}
        return clearing.Wish(
            runs.dag_id,
            runs.which,
            runs.selection,
            options.upstream,
            options.downstream,
            failed if options.only_failed else None,
            "run" if options.own_version else "latest",
        )

    def look(deployment: Deployment) -> Plan:
        from flow.ops import clearing
        from flow.wording.clearing import describe, question

        planned = clearing.preview(deployment, wish())
        if not planned.runs:
            return Plan(["nothing to clear"], "", None)

        def carry_out(deployment: Deployment) -> list[str]:
            done = clearing.clear(deployment, wish(), planned)
            return [f"cleared {_counted(range(done.tasks), 'task')} of {done.dag_id}"]

        return Plan(describe(planned), question(planned), carry_out)

    words = (
        "-t" if runs.tasks else None,
        runs.selection,
        "--upstream" if options.upstream else None,
        "--downstream" if options.downstream else None,
        "--only-failed" if options.only_failed else None,
        *(("--version", "run") if options.own_version else ()),
    )
    return Deed(command("clear", runs.dag_id, *runs.words, *words), look)


def mark(state: str) -> Callable[[Sequence[Target]], list[Deed]]:
    """`flow runs mark` or `flow tasks mark`, whichever the targets are."""

    def deeds(targets: Sequence[Target]) -> list[Deed]:
        return [
            _mark_tasks(runs, state) if runs.tasks else _mark_runs(runs, state)
            for runs in by_run(targets)
        ]

    return deeds


def _mark_runs(runs: Runs, state: str) -> Deed:
    def act(deployment: Deployment, *, dry_run: bool) -> Any:
        from flow.ops import run_marks
        from flow.states import RunState

        verdict: RunState = RunState(state)
        return run_marks.mark(deployment, runs.dag_id, runs.which, verdict, dry_run=dry_run)

    from flow.wording.run_changes import MarkWords

    return _bulk(command("runs", "mark", runs.dag_id, *runs.words, state), act, MarkWords())


def _mark_tasks(runs: Runs, state: str) -> Deed:
    def act(deployment: Deployment, *, dry_run: bool) -> Any:
        from flow.ops import marks
        from flow.states import TaskState

        verdict: TaskState = TaskState(state)
        return marks.mark(
            deployment, runs.dag_id, runs.which, runs.selection or "*", verdict, dry_run=dry_run
        )

    from flow.wording.task_changes import MarkWords

    return _bulk(_with_tasks("mark", runs, state), act, MarkWords())


def cancel(targets: Sequence[Target]) -> list[Deed]:
    """`flow runs cancel`."""
    from flow.wording.run_changes import CancelWords

    def of(runs: Runs) -> Deed:
        def act(deployment: Deployment, *, dry_run: bool) -> Any:
            from flow.ops import cancelling

            return cancelling.cancel(deployment, runs.dag_id, runs.which, dry_run=dry_run)

        return _bulk(command("runs", "cancel", runs.dag_id, *runs.words), act, CancelWords())

    return [of(runs) for runs in by_run(targets)]


def delete(targets: Sequence[Target]) -> list[Deed]:
    """`flow runs delete`."""
    from flow.wording.run_changes import DeleteWords

    def of(runs: Runs) -> Deed:
        def act(deployment: Deployment, *, dry_run: bool) -> Any:
            from flow.ops import deleting

            return deleting.delete(deployment, runs.dag_id, runs.which, dry_run=dry_run)

        return _bulk(command("runs", "delete", runs.dag_id, *runs.words), act, DeleteWords())

    return [of(runs) for runs in by_run(targets)]


def pause_runs(verb: str) -> Callable[[Sequence[Target]], list[Deed]]:
    """`flow runs pause` or `resume`."""
    from flow.wording.run_changes import PauseWords

    def of(runs: Runs) -> Deed:
        def act(deployment: Deployment, *, dry_run: bool) -> Any:
            from flow.ops import holding

            operation = holding.pause if verb == "pause" else holding.resume
            return operation(deployment, runs.dag_id, runs.which, dry_run=dry_run)

        return _bulk(command("runs", verb, runs.dag_id, *runs.words), act, PauseWords(verb))

    return lambda targets: [of(runs) for runs in by_run(targets)]


def hold(verb: str) -> Callable[[Sequence[Target]], list[Deed]]:
    """`flow tasks hold` or `release`."""
    from flow.wording.task_changes import HoldWords

    def of(runs: Runs) -> Deed:
        def act(deployment: Deployment, *, dry_run: bool) -> Any:
            from flow.ops import holding

            operation = holding.hold if verb == "hold" else holding.release
            return operation(
                deployment, runs.dag_id, runs.which, runs.selection or "*", dry_run=dry_run
            )

        return _bulk(_with_tasks(verb, runs), act, HoldWords(verb))

    return lambda targets: [of(runs) for runs in by_run(targets)]


def _with_tasks(verb: str, runs: Runs, *more: str) -> str:
    """`flow tasks VERB DAG RUN TASK`, or with a condition that names several runs."""
    selection = runs.selection or "*"
    if len(runs.run_ids) == 1:
        return command("tasks", verb, runs.dag_id, runs.run_ids[0], selection, *more)
    return command("tasks", verb, runs.dag_id, selection, *more, *runs.words)


def _bulk(line: str, act: Callable[..., Any], words: Any) -> Deed:
    """A verb that says with `dry_run` what it would change, in its words."""

    def look(deployment: Deployment) -> Plan:
        planned = act(deployment, dry_run=True)
        if not planned.changes:
            return Plan(["nothing would change"], "", None)
        return Plan(words.describe(planned), words.question(planned), carry_out)

    def carry_out(deployment: Deployment) -> list[str]:
        return list(words.describe(act(deployment, dry_run=False)))

    return Deed(line, look)


# ── backfills ────────────────────────────────────────────────────────────────────────────────────


def pause_backfill(verb: str) -> Callable[[Sequence[Target]], list[Deed]]:
    """`flow backfills pause` or `resume`."""

    def of(number: str) -> Deed:
        def look(deployment: Deployment) -> Plan:
            does = "starts no more runs; those that run go on" if verb == "pause" else "goes on"
            question = f"{verb.capitalize()} backfill {number}?"
            return Plan([f"backfill {number} {does}"], question, carry_out)

        def carry_out(deployment: Deployment) -> list[str]:
            from flow.ops import backfills
            from flow.wording.backfills import summary

            operation = backfills.pause if verb == "pause" else backfills.resume
            return [summary(operation(deployment, int(number)))]

        return Deed(command("backfills", verb, number), look)

    return lambda targets: [of(target.words[0]) for target in targets]


def cancel_backfill(targets: Sequence[Target]) -> list[Deed]:
    """`flow backfills cancel`."""

    def of(number: str) -> Deed:
        def look(deployment: Deployment) -> Plan:
            from flow.ops import backfills
            from flow.wording.backfills import describe_cancelled

            planned = backfills.cancel(deployment, int(number), dry_run=True)
            return Plan(describe_cancelled(planned), f"Cancel backfill {number}?", carry_out)

        def carry_out(deployment: Deployment) -> list[str]:
            from flow.ops import backfills
            from flow.wording.backfills import summary

            return [summary(backfills.cancel(deployment, int(number)).backfill)]

        return Deed(command("backfills", "cancel", number), look)

    return [of(target.words[0]) for target in targets]


def _counted(things: Sequence[object] | range, noun: str) -> str:
    from flow.wording.cells import counted

    return counted(len(things), noun)
