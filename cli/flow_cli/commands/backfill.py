"""`flow backfill`: runs for the intervals of a range."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from flow_cli import exits
from flow_cli.opening import opened
from flow_cli.options import DagArgument, DryRunOption, OutputOption, RunVersion, YesOption
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single

if TYPE_CHECKING:
    from flow.ops.backfilling import Wish

app = single()


class Order(StrEnum):
    """Which intervals go first."""

    OLDEST = "oldest"
    NEWEST = "newest"


class Reprocess(StrEnum):
    """Which runs that have ended are done again."""

    NONE = "none"
    FAILED = "failed"
    ALL = "all"


@app.command(
    cls=Command,
    epilog=examples(
        "flow backfill sales --from 2026-09-24 --to 2026-09-30 --max-active-runs 4",
        "flow backfill sales --from -90d --reprocess all -t 'load+' --dry-run",
        "flow backfill sales --from 2026-10-01 --to 2026-10-07 --reprocess failed --yes --wait",
    ),
)
def backfill(
    context: typer.Context,
    dag: DagArgument,
    start: Annotated[
        str,
        typer.Option("--from", metavar="DATE", help="The first interval starts then or later."),
    ],
    end: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="DATE",
            help="The last one starts then or earlier; by default the last that has ended.",
        ),
    ] = None,
    selection: Annotated[
        str | None,
        typer.Option(
            "-t",
            "--tasks",
            metavar="TASKS",
            help="Only these run: load, +load, load+, 'extract_*', with commas.",
        ),
    ] = None,
    max_active_runs: Annotated[
        int | None,
        typer.Option(
            "--max-active-runs",
            min=1,
            metavar="N",
            help="Runs at a time, instead of the DAG's own limit; by default that, at most 10.",
        ),
    ] = None,
    order: Annotated[
        Order, typer.Option("--order", help="Which intervals go first.")
    ] = Order.OLDEST,
    reprocess: Annotated[
        Reprocess,
        typer.Option("--reprocess", help="Which runs that have ended are done again."),
    ] = Reprocess.NONE,
    version: Annotated[
        RunVersion,
        typer.Option(
            "--version",
            help="Those go on with the DAG's latest version, or with the one that they have.",
        ),
    ] = RunVersion.LATEST,
    conf: Annotated[
        str | None,
        typer.Option(
            "--conf",
            metavar="JSON|@FILE",
            help="JSON object that tasks can read; a run that is done again keeps its own without.",
        ),
    ] = None,
    priority: Annotated[
        int,
        typer.Option("--priority", metavar="N", help="Added to the priority of the tasks."),
    ] = 0,
    wait: Annotated[
        bool | None,
        typer.Option(
            "--wait/--detach",
            help="Follow it to its end, exit 1 when a run failed; by default on a terminal.",
        ),
    ] = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Make the runs of past intervals, or do them again, so many at a time.

    Both ends of the range are included, a day as a whole. It shows its plan and asks. The runs go
    on by themselves, also while the DAG is paused, with a smaller share than the DAG's own runs;
    Ctrl-C only stops looking. `flow backfills` shows, pauses and cancels backfills.
    """
    from flow.ops.backfilling import Wish
    from flow_cli.texts import given

    wish = Wish(
        dag,
        start,
        end,
        selection,
        order.value,
        reprocess.value,
        max_active_runs,
        given(conf),
        priority,
        version.value,
    )
    follow = sys.stderr.isatty() if wait is None else wait
    _start(context, Output(output), wish, follow=follow, yes=yes, dry_run=dry_run)


def _start(
    context: typer.Context, printer: Output, wish: Wish, *, follow: bool, yes: bool, dry_run: bool
) -> None:
    from flow.ops import backfilling, backfills, missing_roles
    from flow.wording.backfills import again, describe, goes_on, question
    from flow_cli.backfill_page import report_made, report_plan, tell_notes
    from flow_cli.backfill_progress import follow as show_progress
    from flow_cli.confirm import confirm
    from flow_cli.detaching import Detaching
    from flow_cli.missing_roles import warn

    confirmed = None
    with opened(context) as deployment:
        if dry_run or not yes:
            confirmed = backfilling.preview(deployment, wish)
            if dry_run or not confirmed.runs:
                report_plan(printer, confirmed)
                return
            printer.message("\n".join(describe(confirmed)))
            tell_notes(printer, confirmed)
            confirm(question(confirmed), yes=yes)
        with Detaching(printer) as detaching:
            made, plan = backfilling.create(deployment, wish, confirmed)
            if made is None:
                report_plan(printer, plan)
                return
            if confirmed is None:
                printer.message("\n".join(describe(plan)))
                tell_notes(printer, plan)
            if follow:
                detaching.goes_on(goes_on(made))
                warn(printer, missing_roles.for_backfill(deployment, made))
                steps = backfills.follow(deployment, made.id)
                ended = show_progress(steps, printer.err).backfill
            else:
                ended = made
    report_made(printer, ended)
    if not follow:
        printer.message(again(made))
    elif ended.failed or ended.state == "cancelled":
        raise typer.Exit(exits.FAILED)
