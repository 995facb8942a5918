"""`flow why`: what something waits for, or why it ended so."""

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
        "flow why sales latest load", "flow why sales 2026-10-09", "flow why sales -o json"
    ),
)
def why(
    context: typer.Context,
    dag: DagArgument,
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="The run: latest, a run id, or any date."),
    ] = None,
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="The task: load, or group.load.")
    ] = None,
    output: OutputOption = Format.TEXT,
) -> None:
    """Explain what a task, a run or a DAG waits for, or why it ended so.

    Of a date that has no run it says why not; without a run, why there is no newer one. The answer
    comes from the rules that the schedulers go by, with the numbers of this moment.
    """
    from flow.ops import why as ops
    from flow.wording.why import describe, further
    from flow_cli.why_page import json_of

    with opened(context) as deployment:
        answer = ops.why(deployment, dag, run, task)
    printer = Output(output)
    printer.lines(describe(answer), json_of(answer))
    command = further(answer)
    if command is not None and printer.format is Format.TEXT:
        printer.message(command)
