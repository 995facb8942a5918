"""`flow tasks`: the tasks of a run."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flow_cli.commands.render import render
from flow_cli.opening import opened
from flow_cli.options import (
    DagArgument,
    DryRunOption,
    OutputOption,
    RunArgument,
    TaskArgument,
    YesOption,
)
from flow_cli.output import Column, Format, Output, Row
from flow_cli.pages import Command, examples, group
from flow_cli.records import plain, row_of, with_duration
from flow_cli.states import style_of

if TYPE_CHECKING:
    from flow.ops.marks import Marking

app = group(
    "List the tasks of a run and their tries, and mark how they ended.",
    "flow tasks list sales latest",
    "flow tasks tries sales latest load",
)

COLUMNS = (
    Column("task", "task"),
    Column("state", style=style_of),
    Column("try_number", "try", right=True),
    Column("started_at", "started"),
    Column("took", right=True),
    Column("operator"),
)
TRY_COLUMNS = (
    Column("try_number", "try", right=True),
    Column("state", style=style_of),
    Column("started_at", "started"),
    Column("took", right=True),
    Column("worker"),
    Column("exit_code", "exit", right=True),
    Column("signal", right=True),
    Column("reason"),
)
MARK_COLUMNS = (Column("task", "task"), Column("before", style=style_of), Column("state"))


class Verdict(StrEnum):
    """How an operator says that a task ended."""

    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"


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

    with opened(context) as deployment:
        found = tasks.tries(deployment, dag, run, task)
    printer = Output(output)
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


@app.command(
    cls=Command,
    epilog=examples(
        "flow tasks mark sales latest load success",
        "flow tasks mark sales 2026-10-09 'extract_*,load+' skipped --yes",
    ),
)
def mark(
    context: typer.Context,
    dag: DagArgument,
    run: RunArgument,
    selection: Annotated[
        str,
        typer.Argument(
            metavar="TASK", help="Tasks: load, load[3], +load, load+, 'extract_*', with commas."
        ),
    ],
    verdict: Annotated[
        Verdict, typer.Argument(metavar="success|failed|skipped", help="How they ended.")
    ],
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Say how tasks ended, whatever they are doing.

    A running task is stopped. A run that has ended is judged anew.
    """
    from flow.ops import marks
    from flow.states import TaskState
    from flow_cli.confirm import confirm

    printer, state = Output(output), TaskState(verdict.value)
    with opened(context) as deployment:
        if not yes or dry_run:
            plan = marks.mark(deployment, dag, run, selection, state, dry_run=True)
            if dry_run or not plan.marked:
                _report(printer, plan, dry_run=dry_run)
                return
            # The run is named by its id from here on: `latest` may be another one by now.
            run = plan.run.run_id
            for one in plan.marked:
                printer.message(f"{_name(row_of(one))}: {one.before} -> {one.state}")
            confirm(f"Mark {len(plan.marked)} tasks of {plan.run.dag_id}/{run}?", yes=yes)
        done = marks.mark(deployment, dag, run, selection, state)
    _report(printer, done, dry_run=False)


def _report(printer: Output, marking: Marking, *, dry_run: bool) -> None:
    rows = [row_of(one) for one in marking.marked]
    if printer.format is Format.TEXT:
        if rows:
            printer.table(_with_names(printer, rows), MARK_COLUMNS, "tasks")
    else:
        printer.lines(
            [],
            {
                "dag_id": marking.run.dag_id,
                "run_id": marking.run.run_id,
                "dry_run": dry_run,
                "marked": plain(rows),
                "unchanged": marking.unchanged,
                "run_state": marking.run_state,
                "stays": marking.stays,
            },
        )
    if marking.unchanged:
        printer.message(f"already so: {', '.join(marking.unchanged)}")
    if marking.run_state is not None and marking.run_state != marking.run.state:
        would = "would be" if dry_run else "is now"
        printer.message(f"the run {would} {marking.run_state}; it was {marking.run.state}")
    if marking.stays:
        run = f"{marking.run.dag_id} {marking.run.run_id}"
        printer.message(
            f"{', '.join(marking.stays)} did not run because of this; to run them: "
            f"flow clear {run} -t {','.join(marking.stays)}"
        )


def _with_duration(printer: Output, row: dict[str, Any]) -> dict[str, Any]:
    return with_duration(row) if printer.format is Format.TEXT else row


def _with_names(printer: Output, rows: list[dict[str, Any]]) -> list[Row]:
    """Rows for people have one column for id and map index; JSON keeps its fields."""
    if printer.format is not Format.TEXT:
        return list(rows)
    return [{**row, "task": _name(row)} for row in rows]


def _name(row: Row) -> str:
    from flow.ops.task_references import TaskReference

    index = row["map_index"]
    return str(TaskReference(str(row["task_id"]), tuple(index if isinstance(index, list) else ())))
