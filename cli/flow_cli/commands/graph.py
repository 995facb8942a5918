"""`flow graph`: what waits for what."""

from __future__ import annotations

from functools import partial
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
        "flow graph sales", "flow graph sales latest", "flow graph sales --dot > sales.dot"
    ),
)
def graph(
    context: typer.Context,
    dag: DagArgument,
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="With the states of this run: latest, an id, a date."),
    ] = None,
    dot: Annotated[
        bool, typer.Option("--dot", help="In the language of Graphviz, groups as clusters.")
    ] = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Draw the tasks of a DAG and what waits for what, also with the states of a run.

    A task hangs on the lines that meet its sign; they come down from those that it waits for. The
    graph is that of the run, or of the latest version.
    """
    from flow.ops import dag_graph
    from flow_cli.dot import dot_of
    from flow_cli.drawing import show
    from flow_cli.graph_page import describe, json_of

    with opened(context) as deployment:
        found = dag_graph.graph(deployment, dag, run)
    printer = Output(output)
    if dot:
        text = dot_of(found)
        printer.raw(text, {"dot": text})
    else:
        show(printer, partial(describe, found), json_of(found))
