"""`flow clear`: tasks of runs are decided anew."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from flow_cli import exits
from flow_cli.opening import opened
from flow_cli.options import (
    DagArgument,
    DryRunOption,
    FromOption,
    OneRunArgument,
    OutputOption,
    ToOption,
    WhereOption,
    YesOption,
)
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single

if TYPE_CHECKING:
    from flow.ops.clearing import Clearing
    from flow.ops.deployment import Deployment

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


class Version(StrEnum):
    """Which version a cleared run has from then on."""

    LATEST = "latest"
    RUN = "run"


@app.command(
    cls=Command,
    epilog=examples(
        "flow clear sales latest --only-failed",
        "flow clear sales 2026-10-09 -t load --downstream",
        "flow clear sales --from 2026-10-01 --to 2026-10-07 -t 'extract_*+' --yes",
        "flow clear sales --where 'state=failed and ended_at>-2d' --only-failed --dry-run",
    ),
)
def clear(
    context: typer.Context,
    dag: DagArgument,
    run: OneRunArgument = None,
    start: FromOption = None,
    end: ToOption = None,
    where: WhereOption = None,
    selection: Annotated[
        str | None,
        typer.Option(
            "-t",
            "--tasks",
            metavar="TASKS",
            help="Only these: load, load[3], +load, load+, 'extract_*', with commas.",
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
        Version,
        typer.Option(
            "--version",
            help="Go on with the DAG's latest version, or with the one that the run has.",
        ),
    ] = Version.LATEST,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the end of the runs; exit 1 when one failed.")
    ] = False,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Let tasks run again, in one run or in all runs of a range.

    Both ends of a range are included, a day as a whole. Cleared tasks get a full new set of tries;
    numbers of tries only grow. What is running is stopped, and runs again when its process is dead.
    Runs that had ended go back to the queue, and start as the DAG's limit of active runs allows.
    """
    from flow.errors import UsageError
    from flow.ops import clearing
    from flow.ops.run_ranges import Which
    from flow.states import TaskState
    from flow.wording.clearing import describe, question
    from flow_cli.clear_page import report
    from flow_cli.confirm import confirm
    from flow_cli.detaching import Detaching

    if only_failed and state:
        raise UsageError(
            "--only-failed and --state exclude each other",
            "write --state failed --state upstream_failed and what else is meant",
        )
    states = {TaskState(one.value) for one in state or ()} or None
    if only_failed:
        states = {TaskState.FAILED, TaskState.UPSTREAM_FAILED}
    wish = clearing.Wish(
        dag,
        Which(run, start, end, where),
        selection,
        upstream,
        downstream,
        states,
        "latest" if version is Version.LATEST else "run",
    )
    printer = Output(output)
    confirmed = None
    with opened(context) as deployment:
        if dry_run or not yes:
            confirmed = clearing.preview(deployment, wish)
            if dry_run or not confirmed.runs:
                report(printer, confirmed, dry_run=dry_run)
                return
            printer.message("\n".join(describe(confirmed)))
            confirm(question(confirmed), yes=yes)
        with Detaching(printer) as detaching:
            done = clearing.clear(deployment, wish, confirmed)
            report(printer, done, dry_run=False)
            if not wait:
                return
            detaching.goes_on(f"they go on; see them with: flow runs list {done.dag_id}")
            if not _succeeded(printer, deployment, done):
                raise typer.Exit(exits.FAILED)


def _succeeded(printer: Output, deployment: Deployment, done: Clearing) -> bool:
    """Wait for the end of every run that was cleared; whether all of them succeeded."""
    from flow.ops import waiting
    from flow.ops.references import find_run
    from flow_cli.progress import progress_bar

    succeeded = True
    for run in done.runs:
        steps = waiting.follow(deployment.conn, find_run(deployment.conn, done.dag_id, run.run_id))
        progress = next(steps)
        with progress_bar(sys.stderr, run.run_id, progress.total) as advance:
            for progress in steps:
                advance(progress.done)
        state = progress.found.run.state
        printer.message(f"{done.dag_id} {run.run_id}: {state}")
        succeeded = succeeded and state == "success"
    return succeeded
