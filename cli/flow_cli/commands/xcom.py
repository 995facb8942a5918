"""`flow xcom`: what tasks passed on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flow_cli.opening import opened
from flow_cli.options import (
    DEFAULT_LIMIT,
    AllOption,
    DagArgument,
    LimitOption,
    OutputOption,
    RunArgument,
    TaskArgument,
    TryOption,
    row_limit,
)
from flow_cli.output import Column, Format, Output
from flow_cli.pages import Command, examples, group
from flow_cli.records import print_page, row_of

if TYPE_CHECKING:
    from flow.store.read.tasks import XCom

app = group(
    "List and print XComs, the values that tasks pass on.",
    "flow xcom list sales latest",
    "flow xcom get sales latest load",
)

COLUMNS = (
    Column("task_id", "task"),
    Column("map_index", "index"),
    Column("try_number", "try", right=True),
    Column("key"),
    Column("value"),
)
LONGEST_SHOWN = 200


@app.command(
    "list",
    cls=Command,
    epilog=examples("flow xcom list sales latest", "flow xcom list sales latest load -o json"),
)
def list_(
    context: typer.Context,
    dag: DagArgument,
    run: RunArgument,
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="Only of this task: load, or group.load.")
    ] = None,
    try_number: TryOption = None,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List the XComs of a run, or of one task: those of the last try.

    Of a task that has not run since it was cleared, that is one from before, and that is said.
    """
    from flow.ops import xcoms
    from flow.ops.tasks import unrun
    from flow_cli.unrun import of_shown, tell_unrun

    printer = Output(output)
    with opened(context) as deployment:
        page = xcoms.page(deployment, dag, run, task, try_number, row_limit(limit, every))
        if try_number is None:
            tell_unrun(printer, of_shown(unrun(deployment, dag, run), page.rows))
    if printer.format is Format.TEXT:
        rows = [{**row_of(one), "value": _short(one.value)} for one in page.rows]
    else:
        rows = [_row(one) for one in page.rows]
    print_page(printer, page, rows, COLUMNS, "XComs")


@app.command(
    cls=Command,
    epilog=examples(
        "flow xcom get sales latest load", "flow xcom get sales latest load --key rows -o json"
    ),
)
def get(
    context: typer.Context,
    dag: DagArgument,
    run: RunArgument,
    task: TaskArgument,
    key: Annotated[
        str, typer.Option("--key", metavar="KEY", help="Key of the XCom.")
    ] = "return_value",
    try_number: TryOption = None,
    output: OutputOption = Format.TEXT,
) -> None:
    """Print the value of an XCom: text as it is, everything else as JSON."""
    from flow.ops import xcoms
    from flow.ops.tasks import unrun
    from flow_cli.unrun import of_shown, tell_unrun

    printer = Output(output)
    with opened(context) as deployment:
        found = xcoms.get(deployment, dag, run, task, key, try_number)
        if try_number is None:
            tell_unrun(printer, of_shown(unrun(deployment, dag, run, [task]), [found]))
    value = json.loads(found.value)
    printer.raw(value if isinstance(value, str) else found.value, _row(found))


def _row(xcom: XCom) -> dict[str, Any]:
    return {**row_of(xcom), "value": json.loads(xcom.value)}


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
