"""`flow tasks render`: the fields of a task without running it."""

from __future__ import annotations

from typing import Annotated

import typer

from flow_cli.opening import opened
from flow_cli.options import DagArgument, OutputOption, TaskArgument
from flow_cli.output import Format, Output
from flow_cli.records import print_record, row_of


def render(
    context: typer.Context,
    dag: DagArgument,
    task: TaskArgument,
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="The run: latest, a run id, or a date."),
    ] = None,
    date: Annotated[
        str | None,
        typer.Option(
            "--date", metavar="DATE", help="Start of an interval, whether it has a run or not."
        ),
    ] = None,
    output: OutputOption = Format.TEXT,
) -> None:
    """Show the template fields of a task as its try renders them, without running it.

    By default for the latest run. XComs, variables and connections are those that the try gets;
    secrets are shown as ***.
    """
    from flow.errors import UsageError
    from flow.ops import rendering

    if run is not None and date is not None:
        raise UsageError("a run and a date are both given", "leave out RUN or --date")
    printer = Output(output)
    with opened(context) as deployment:
        found = rendering.render(deployment, dag, task, run, date)
    if output is Format.TEXT:
        print_record(printer, found.fields)
    else:
        printer.lines([], row_of(found))
