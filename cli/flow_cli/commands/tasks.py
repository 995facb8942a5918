"""`flow tasks`: the tasks of a run."""

from __future__ import annotations

from typing import Any

import typer

from flow.wording.looks import style_of
from flow_cli.commands import task_changes
from flow_cli.commands.render import render
from flow_cli.opening import opened
from flow_cli.options import (
    DagArgument,
    OutputOption,
    RunArgument,
    TaskArgument,
)
from flow_cli.output import Column, Format, Output, Row
from flow_cli.pages import Command, examples, group
from flow_cli.records import row_of, with_duration

app = group(
    "List the tasks of a run and their tries; mark, hold and release them.",
    "flow tasks list sales latest",
    "flow tasks tries sales latest load",
)

COLUMNS = (
    Column("task", "task"),
    Column("state", style=style_of),
    Column("try_number", "try", right=True),
    Column("started_at", "started"),
    Column("took", right=True),
    Column("operator", spare=True),
)
TRY_COLUMNS = (
    Column("try_number", "try", right=True),
    Column("state", style=style_of),
    Column("started_at", "started"),
    Column("took", right=True),
    Column("worker", spare=True),
    Column("exit_code", "exit", right=True),
    Column("signal", right=True),
    Column("reason"),
)


@app.command(
    "list",
    cls=Command,
    epilog=examples("flow tasks list sales latest", "flow tasks list sales 2026-10-09 -o json"),
)
def list_(
    context: typer.Context, dag: DagArgument, run: RunArgument, output: OutputOption = Format.TEXT
) -> None:
    """List every task of a run, upstream first, also those that have not been looked at yet."""
    from flow.ops import tasks

    printer = Output(output)
    with opened(context) as deployment:
        found = tasks.list_(deployment, dag, run)
    rows = [_with_duration(printer, row_of(task)) for task in found.tasks]
    printer.table(_with_names(printer, rows), COLUMNS, "tasks")


@app.command(cls=Command, epilog=examples("flow tasks tries sales latest load"))
def tries(
    context: typer.Context,
    dag: DagArgument,
    run: RunArgument,
    task: TaskArgument,
    output: OutputOption = Format.TEXT,
) -> None:
    """List the tries of a task."""
    from flow.ops import tasks
    from flow_cli.unrun import tell_unrun

    printer = Output(output)
    with opened(context) as deployment:
        found = tasks.tries(deployment, dag, run, task)
        tell_unrun(printer, tasks.unrun(deployment, dag, run, [task]))
    rows = [_with_duration(printer, row_of(one)) for one in found.tries]
    printer.table(rows, TRY_COLUMNS, "tries")


app.command(
    cls=Command,
    epilog=examples(
        "flow tasks render sales load",
        "flow tasks render sales load 2026-10-09",
        "flow tasks render sales load --date 2027-01-01 -o json",
    ),
)(render)
task_changes.add_to(app)


def _with_duration(printer: Output, row: dict[str, Any]) -> dict[str, Any]:
    return with_duration(row) if printer.format is Format.TEXT else row


def _with_names(printer: Output, rows: list[dict[str, Any]]) -> list[Row]:
    """Rows for people have one column for id and map index; JSON keeps its fields."""
    if printer.format is not Format.TEXT:
        return list(rows)
    return [{**row, "task": _name(row), "state": _state(row)} for row in rows]


def _state(row: Row) -> str:
    return f"{row['state']}, held" if row.get("held") else str(row["state"])


def _name(row: Row) -> str:
    from flow.ops.task_references import TaskReference

    index = row["map_index"]
    return str(TaskReference(str(row["task_id"]), tuple(index if isinstance(index, list) else ())))
