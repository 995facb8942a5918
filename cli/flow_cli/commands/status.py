"""`flow status`: is everything alive, and is anything stuck?"""

from __future__ import annotations

import typer

from flow_cli import exits
from flow_cli.opening import opened
from flow_cli.options import OutputOption
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single
from flow_cli.records import row_of
from flow_cli.status_page import describe

app = single()


@app.command(cls=Command, epilog=examples("flow status", "flow status -o json"))
def status(context: typer.Context, output: OutputOption = Format.TEXT) -> None:
    """Show roles, queue, wake-ups, pools and database; exit 1 when something is wrong."""
    from flow.ops import status as operations

    printer = Output(output)
    with opened(context) as deployment:
        found = operations.show(deployment)
    printer.lines(describe(found), row_of(found))
    for warning in found.warnings:
        printer.warning(warning)
    for problem in found.problems:
        printer.message(problem)
    if found.problems:
        raise typer.Exit(exits.FAILED)
