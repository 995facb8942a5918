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
    """Show roles, queue, wake-ups, pools and database; exit 1 when something is wrong.

    Wrong is what stands still until somebody acts: no parser, scheduler or worker alive, or a
    process that is not heard of; tasks that wait for a queue that no live worker serves, or for a
    pool that does not exist or is too small for them; wake-ups a minute late. Only warned of, with
    exit code 0: DAG files that cannot be imported, a pool closed with 0 slots while tasks wait for
    it, callbacks that were given up, an old schema, an old transaction.
    """
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
