"""`flow runs`: the runs of DAGs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from flow.wording.looks import style_of
from flow_cli.commands import run_changes
from flow_cli.opening import opened
from flow_cli.options import (
    DEFAULT_LIMIT,
    AllOption,
    AnyDagArgument,
    DagArgument,
    FromOption,
    LimitOption,
    OutputOption,
    RunArgument,
    ToOption,
    WhereOption,
    row_limit,
)
from flow_cli.output import Column, Format, Output
from flow_cli.pages import Command, examples, group
from flow_cli.records import print_page, print_record, row_of, with_duration

app = group(
    "List and show runs; cancel, pause, mark and delete them.",
    "flow runs list sales",
    "flow runs show sales latest",
)

DAG_COLUMN = Column("dag_id", "dag")
COLUMNS = (
    Column("run_id", "run"),
    Column("state", style=style_of),
    Column("started_at", "started"),
    Column("took", right=True),
)


class State(StrEnum):
    """States of a run."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"


class Type(StrEnum):
    """Who makes runs."""

    SCHEDULED = "scheduled"
    MANUAL = "manual"
    BACKFILL = "backfill"
    ASSET = "asset"


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        "flow runs list sales",
        "flow runs list --state failed --from -7d -o json",
        "flow runs list --where 'dag~sales_* and started_at>-2d'",
    ),
)
def list_(
    context: typer.Context,
    dag: AnyDagArgument = None,
    state: Annotated[State | None, typer.Option("--state", help="In this state.")] = None,
    run_type: Annotated[Type | None, typer.Option("--type", help="Made by this.")] = None,
    start: FromOption = None,
    end: ToOption = None,
    where: WhereOption = None,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List runs, newest first. Both ends of --from and --to are included, a day as a whole."""
    from flow.ops import runs

    printer = Output(output)
    asked = runs.Asked(
        dag,
        state.value if state else None,
        run_type.value if run_type else None,
        start,
        end,
        where,
    )
    with opened(context) as deployment:
        if printer.streams(every):
            printer.table(map(row_of, runs.every(deployment, asked)), COLUMNS, "runs")
            return
        page = runs.page(deployment, asked, row_limit(limit, every))
    rows = [row_of(run) for run in page.rows]
    if printer.format is Format.TEXT:
        rows = [with_duration(row) for row in rows]
    print_page(printer, page, rows, COLUMNS if dag else (DAG_COLUMN, *COLUMNS), "runs")


@app.command(
    cls=Command,
    epilog=examples("flow runs show sales latest", "flow runs show sales 2026-10-09 -o json"),
)
def show(
    context: typer.Context, dag: DagArgument, run: RunArgument, output: OutputOption = Format.TEXT
) -> None:
    """Show one run, and how many of its tasks are in which state."""
    from flow.ops import runs

    with opened(context) as deployment:
        details = runs.show(deployment, dag, run)
    printer = Output(output)
    rest = row_of(details)
    row = {**rest.pop("run"), **rest}
    if printer.format is Format.TEXT:
        counts = [f"{count} {state}" for state, count in details.tasks.items()]
        row = {**with_duration(row), "tasks": ", ".join(counts)}
    print_record(printer, row)


run_changes.add_to(app)
