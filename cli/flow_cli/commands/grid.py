"""`flow grid`: tasks × runs, printed once."""

from __future__ import annotations

from typing import Annotated

import typer

from flow_cli.grid import draw
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

    On a terminal as many runs are shown as fit side by side.
    """
    from flow.ops import grid as operations

    with opened(context) as deployment:
        found = operations.show(deployment, dag, runs)
    draw(Output(output), found)
