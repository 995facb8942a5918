"""`flow compare`: two runs of a DAG side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from flow_cli.opening import opened
from flow_cli.options import DagArgument, OutputOption
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single

app = single()


@app.command(
    cls=Command,
    epilog=examples(
        "flow compare sales",
        "flow compare sales 2026-10-08 2026-10-09 --fields",
        "flow compare sales latest -o json",
    ),
)
def compare(
    context: typer.Context,
    dag: DagArgument,
    first: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN1", help="A run: latest, an id, a date. Alone: against the success before."
        ),
    ] = None,
    second: Annotated[
        str | None, typer.Argument(metavar="RUN2", help="The run that it is compared with.")
    ] = None,
    fields: Annotated[
        bool,
        typer.Option("--fields", help="Also template fields, as the code renders them now."),
    ] = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Compare two runs: by default the last success and the first failure after it.

    Version, graph, code, conf and params; states, tries and workers of tasks, and how long their
    last tries took. What took twice or half as long, and a second more or less, is marked.
    """
    from flow.ops import run_comparison
    from flow_cli.compare_page import json_of, print_comparison

    with opened(context) as deployment:
        found = run_comparison.compare(deployment, dag, first, second, fields=fields)
    printer = Output(output)
    if output is Format.TEXT:
        print_comparison(printer, found)
    else:
        printer.lines([], json_of(found))
