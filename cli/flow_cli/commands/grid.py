"""`flow grid`: tasks × runs, printed once."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from flow_cli.drawing import show
from flow_cli.grid_page import draw, fitting, json_of
from flow_cli.opening import opened
from flow_cli.options import DagArgument, OutputOption
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single

app = single()

DEFAULT_RUNS = 25


@app.command(cls=Command, epilog=examples("flow grid sales", "flow grid sales -n 60 -o json"))
def grid(
    context: typer.Context,
    dag: DagArgument,
    runs: Annotated[
        int,
        typer.Option("-n", "--runs", min=1, metavar="RUNS", help="How many of the newest runs."),
    ] = DEFAULT_RUNS,
    output: OutputOption = Format.TEXT,
) -> None:
    """Show the tasks of a DAG over its newest runs, the newest on the right.

    Above stands how long runs took; below, who made them if not the schedule (manual, backfill,
    asset), and where another version of the DAG begins. On a terminal as many runs are shown as fit
    side by side, and long ids lose their middle.
    """
    from flow.ops import grid as operations

    with opened(context) as deployment:
        found = operations.show(deployment, dag, runs)
    printer = Output(output)
    sheet = show(printer, partial(draw, found), json_of(found))
    if sheet is None:
        return
    shown = fitting(found, sheet)
    if shown < len(found.runs):
        printer.message(f"showing {shown} of {len(found.runs)} runs: the terminal is too narrow")
    if not found.runs:
        printer.message(f"DAG {dag} has no run yet")
