"""`flow clear`: tasks of runs are decided anew."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from flow.errors import UsageError
from flow.wording.cells import counted
from flow_cli import exits
from flow_cli.opening import opened
from flow_cli.options import (
    DagsArgument,
    DryRunOption,
    FromOption,
    OneRunArgument,
    OutputOption,
    RunVersion,
    ToOption,
    YesOption,
)
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single

if TYPE_CHECKING:
    from flow.ops.clearing import Clearing, Wish
    from flow.ops.deployment import Deployment
    from flow.states import TaskState

app = single()


class State(StrEnum):
    """States of a task that can be cleared."""

    SCHEDULED = "scheduled"
    QUEUED = "queued"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"
    UP_FOR_RETRY = "up_for_retry"
    UP_FOR_RESCHEDULE = "up_for_reschedule"
    DEFERRED = "deferred"
    AWAITING_INPUT = "awaiting_input"
    UPSTREAM_FAILED = "upstream_failed"
    REMOVED = "removed"


@app.command(
    cls=Command,
    epilog=examples(
        "flow clear sales latest --only-failed",
        "flow clear sales 2026-10-09 -t load --downstream",
        "flow clear sales --from 2026-10-01 --to 2026-10-07 -t 'extract_*+' --yes",
        "flow clear 'sales_*' --from -7d --where 'state=failed' --only-failed --dry-run",
        "flow clear sales latest --where 'task.state=failed and pool=warehouse' --version run",
    ),
)
def clear(
    context: typer.Context,
    dag: DagsArgument,
    run: OneRunArgument = None,
    start: FromOption = None,
    end: ToOption = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="Only tasks like this: task.state=failed and try_number>=2, over the fields of "
            "`flow runs list` and `flow tasks list -o json`; a name that both have is the run's, "
            "task.state the task's.",
        ),
    ] = None,
    selection: Annotated[
        str | None,
        typer.Option(
            "-t",
            "--tasks",
            metavar="TASKS",
            help="Only these: load, a group, +load, load+, 'extract_*', with commas.",
        ),
    ] = None,
    upstream: Annotated[
        bool, typer.Option("--upstream", help="And everything upstream of them.")
    ] = False,
    downstream: Annotated[
        bool, typer.Option("--downstream", help="And everything downstream of them.")
    ] = False,
    only_failed: Annotated[
        bool, typer.Option("--only-failed", help="Of those, only failed and upstream_failed ones.")
    ] = False,
    state: Annotated[
        list[State] | None,
        typer.Option(
            "--state",
            metavar="STATE",
            help="Of those, only the ones in this state; may be repeated.",
        ),
    ] = None,
    version: Annotated[
        RunVersion,
        typer.Option(
            "--version",
            help="Go on with the DAG's latest version, or with the one that the run has.",
        ),
    ] = RunVersion.LATEST,
    across_dags: Annotated[
        bool,
        typer.Option(
            "--across-dags",
            help="And what other DAGs have made of it. Needs assets: not there yet, refused.",
        ),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the end of the runs; exit 1 when one failed.")
    ] = False,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Let tasks run again, in one run or in all runs of a range.

    Of one DAG, or of all that a glob names. Both ends of a range are included, a day as a whole.
    Cleared tasks get a full new set of tries; numbers of tries only grow. What is running is
    stopped, and runs again when its process is dead. Runs that had ended go back to the queue, and
    start as the DAG's limit of active runs allows. To do many again so many at a time, while the
    DAG's own runs go first: flow backfill --reprocess all.
    """
    from flow.ops.clearing import Wish
    from flow.ops.run_ranges import Which

    if across_dags:
        raise UsageError(
            "--across-dags needs assets, which Flow does not have yet: it does not know what other "
            "DAGs have made of this",
            "name the other DAGs, by a glob such as 'sales_*', and their tasks with -t",
        )
    wish = Wish(
        dag,
        Which(run, start, end, where),
        selection,
        upstream,
        downstream,
        _states(state or (), only_failed=only_failed),
        "latest" if version is RunVersion.LATEST else "run",
    )
    _clear(context, Output(output), wish, wait=wait, yes=yes, dry_run=dry_run)


def _states(named: Sequence[State], *, only_failed: bool) -> set[TaskState] | None:
    """The states that are cleared; None: whatever they are in."""
    from flow.states import TaskState

    if only_failed and named:
        raise UsageError(
            "--only-failed and --state exclude each other",
            "write --state failed --state upstream_failed and what else is meant",
        )
    if only_failed:
        return {TaskState.FAILED, TaskState.UPSTREAM_FAILED}
    return {TaskState(one.value) for one in named} or None


def _clear(
    context: typer.Context, printer: Output, wish: Wish, *, wait: bool, yes: bool, dry_run: bool
) -> None:
    from flow.ops import clearing, missing_roles
    from flow.wording.clearing import look_at
    from flow_cli.clear_page import ask, report
    from flow_cli.detaching import Detaching
    from flow_cli.missing_roles import warn

    confirmed = None
    with opened(context) as deployment:
        if dry_run or not yes:
            confirmed = clearing.preview(deployment, wish)
            if dry_run or not confirmed.runs:
                report(printer, confirmed, dry_run=dry_run)
                return
            ask(printer, confirmed)
        with Detaching(printer) as detaching:
            done = clearing.clear(deployment, wish, confirmed)
            report(printer, done, dry_run=False, asked=confirmed is not None)
            if not wait or not done.runs:
                return
            detaching.goes_on(f"they go on; see them with: {look_at(done)}")
            warn(printer, missing_roles.for_runs(deployment, done.cleared))
            if not _succeeded(printer, deployment, done):
                raise typer.Exit(exits.FAILED)


def _succeeded(printer: Output, deployment: Deployment, done: Clearing) -> bool:
    """Wait for the end of every run that was cleared, and tell of each; whether all succeeded."""
    from flow.ops import waiting
    from flow.wording.clearing import ended
    from flow_cli.progress import progress_bar

    steps = waiting.follow(deployment.conn, done.cleared)
    first = next(steps)
    told: set[int] = set()
    label = done.runs[0].run_id if len(done.runs) == 1 else counted(len(done.runs), "run")
    with progress_bar(sys.stderr, label, first.total) as advance:
        for progress in chain([first], steps):
            advance(progress.done)
            for one in progress.ended:
                if one.run_key not in told:
                    printer.message(ended(one.run))
            told = {one.run_key for one in progress.ended}
    return all(one.run.state == "success" for one in progress.runs)
