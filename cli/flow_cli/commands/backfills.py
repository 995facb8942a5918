"""`flow backfills`: how backfills are doing, and letting them wait, go on, or end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flow.wording.looks import style_of
from flow_cli.opening import opened
from flow_cli.options import (
    DEFAULT_LIMIT,
    AllOption,
    AnyDagArgument,
    DryRunOption,
    LimitOption,
    OutputOption,
    YesOption,
    row_limit,
)
from flow_cli.output import Column, Format, Output
from flow_cli.pages import Command, examples, group
from flow_cli.records import print_page, print_record, row_of

if TYPE_CHECKING:
    from flow.store.read.backfills import Backfill

app = group(
    "List, show, pause, resume and cancel backfills.",
    "flow backfills list",
    "flow backfills show 7 -f",
)

COLUMNS = (
    Column("id", right=True),
    Column("dag_id", "dag"),
    Column("state", style=style_of),
    Column("done", right=True),
    Column("failed", right=True),
    Column("running", right=True),
    Column("total", right=True),
    Column("from"),
    Column("to"),
)
INTERVALS = (
    Column("data_interval_start", "interval"),
    Column("state", style=style_of),
    Column("run_id", "run"),
    Column("note"),
)
IdArgument = Annotated[
    int | None,
    typer.Argument(metavar="ID", help="Its number; by default the only one that is active."),
]


@app.command(
    "list",
    cls=Command,
    epilog=examples("flow backfills list", "flow backfills list sales --active"),
)
def list_(
    context: typer.Context,
    dag: AnyDagArgument = None,
    active: Annotated[
        bool, typer.Option("--active", help="Only those that have not ended.")
    ] = False,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List backfills, newest first."""
    from flow.ops import backfills
    from flow_cli.backfill_page import row_of_backfill

    with opened(context) as deployment:
        page = backfills.page(deployment, dag, row_limit(limit, every), active=active)
    rows = [row_of_backfill(backfill) for backfill in page.rows]
    print_page(Output(output), page, rows, COLUMNS, "backfills")


@app.command(
    cls=Command,
    epilog=examples(
        "flow backfills show 7",
        "flow backfills show 7 -f",
    ),
)
def show(
    context: typer.Context,
    backfill: IdArgument = None,
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Follow it to its end first; Ctrl-C stops that.")
    ] = False,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Show a backfill, and its intervals in their order."""
    from flow.ops import backfills, missing_roles
    from flow.wording.backfills import goes_on
    from flow_cli.backfill_page import row_of_backfill
    from flow_cli.backfill_progress import follow as show_progress
    from flow_cli.detaching import Detaching
    from flow_cli.missing_roles import warn

    printer = Output(output)
    with opened(context) as deployment:
        found = backfills.find(deployment, backfill)
        if follow and found.ended_at is None:
            with Detaching(printer) as detaching:
                detaching.goes_on(goes_on(found))
                warn(printer, missing_roles.for_backfill(deployment, found))
                show_progress(backfills.follow(deployment, found.id), printer.err)
        details = backfills.show(deployment, found.id)
    row, rows = row_of_backfill(details.backfill), [row_of(one) for one in details.intervals]
    if printer.format is not Format.TEXT:
        printer.record({**row, "intervals": rows})
        return
    print_record(printer, row)
    printer.table(rows[: row_limit(limit, every)], INTERVALS, "intervals", len(rows))


@app.command(cls=Command, epilog=examples("flow backfills pause 7", "flow backfills pause -o json"))
def pause(
    context: typer.Context, backfill: IdArgument = None, output: OutputOption = Format.TEXT
) -> None:
    """Let a backfill start no more runs; those that run go on."""
    from flow.ops import backfills

    with opened(context) as deployment:
        found = backfills.find(deployment, backfill)
        _report(Output(output), backfills.pause(deployment, found.id))


@app.command(cls=Command, epilog=examples("flow backfills resume 7"))
def resume(
    context: typer.Context, backfill: IdArgument = None, output: OutputOption = Format.TEXT
) -> None:
    """Let a paused backfill go on."""
    from flow.ops import backfills

    with opened(context) as deployment:
        found = backfills.find(deployment, backfill)
        _report(Output(output), backfills.resume(deployment, found.id))


@app.command(
    cls=Command,
    epilog=examples("flow backfills cancel 7", "flow backfills cancel 8 --keep-running --yes"),
)
def cancel(
    context: typer.Context,
    backfill: IdArgument = None,
    keep_running: Annotated[
        bool, typer.Option("--keep-running", help="Let the runs that it has under way go on.")
    ] = False,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """End a backfill: it makes no more runs, and those that it has under way are cancelled.

    Runs that have ended stay as they are, and so do those that were still to be done again.
    """
    from flow.ops import backfills
    from flow.wording.backfills import describe_cancelled, question_to_cancel
    from flow_cli.backfill_page import report_cancelled
    from flow_cli.confirm import confirm

    printer = Output(output)
    with opened(context) as deployment:
        found = backfills.find(deployment, backfill)
        if dry_run or not yes:
            plan = backfills.cancel(deployment, found.id, keep_running=keep_running, dry_run=True)
            if dry_run:
                report_cancelled(printer, plan, dry_run=True)
                return
            printer.message("\n".join(describe_cancelled(plan)))
            confirm(question_to_cancel(found), yes=yes)
        done = backfills.cancel(deployment, found.id, keep_running=keep_running)
    report_cancelled(printer, done, dry_run=False)


def _report(printer: Output, backfill: Backfill) -> None:
    from flow_cli.backfill_page import report_made

    report_made(printer, backfill)
