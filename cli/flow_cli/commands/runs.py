"""`flow runs`: the runs of DAGs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from flow_cli.cells import counted
from flow_cli.opening import opened
from flow_cli.options import (
    DEFAULT_LIMIT,
    AllOption,
    DagArgument,
    DryRunOption,
    FromOption,
    LimitOption,
    OneRunArgument,
    OutputOption,
    RunArgument,
    ToOption,
    YesOption,
    row_limit,
)
from flow_cli.output import Column, Format, Output
from flow_cli.pages import Command, examples, group
from flow_cli.records import print_page, print_record, row_of, with_duration
from flow_cli.states import style_of

if TYPE_CHECKING:
    from flow.ops.cancelling import Cancelling
    from flow.ops.deleting import Deleting
    from flow.ops.run_ranges import Which

app = group(
    "List, show, cancel and delete runs.", "flow runs list sales", "flow runs show sales latest"
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
    epilog=examples("flow runs list sales", "flow runs list --state failed --from -7d -o json"),
)
def list_(
    context: typer.Context,
    dag: Annotated[
        str | None, typer.Argument(metavar="DAG", help="Id of the DAG; by default all DAGs.")
    ] = None,
    state: Annotated[State | None, typer.Option("--state", help="In this state.")] = None,
    run_type: Annotated[Type | None, typer.Option("--type", help="Made by this.")] = None,
    start: FromOption = None,
    end: ToOption = None,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List runs, newest first. Both ends of --from and --to are included, a day as a whole."""
    from flow.ops import runs

    with opened(context) as deployment:
        page = runs.page(
            deployment,
            dag_id=dag,
            state=state.value if state else None,
            run_type=run_type.value if run_type else None,
            start=start,
            end=end,
            limit=row_limit(limit, every),
        )
    printer = Output(output)
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


@app.command(
    cls=Command,
    epilog=examples(
        "flow runs cancel sales latest", "flow runs cancel sales --from 2026-10-01 --yes"
    ),
)
def cancel(
    context: typer.Context,
    dag: DagArgument,
    run: OneRunArgument = None,
    start: FromOption = None,
    end: ToOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """End runs now, as failed and without any callback.

    What runs is stopped; tasks that have not ended are skipped. Of a range, runs that have ended
    are left alone.
    """
    from flow.ops import cancelling
    from flow.ops.run_ranges import Which
    from flow_cli.confirm import confirm
    from flow_cli.run_ends import describe_cancelled, report_cancelled

    printer, which, only = Output(output), Which(run, start, end), None
    with opened(context) as deployment:
        if dry_run or not yes:
            plan = cancelling.cancel(deployment, dag, which, dry_run=True)
            if dry_run or not plan.runs:
                report_cancelled(printer, plan, dry_run=dry_run)
                return
            printer.message("\n".join(describe_cancelled(plan)))
            confirm(f"Cancel {counted(len(plan.runs), 'run')} of {dag}?", yes=yes)
            which, only = _shown(which, plan)
        done = cancelling.cancel(deployment, dag, which, only)
    report_cancelled(printer, done, dry_run=False)


@app.command(
    cls=Command,
    epilog=examples(
        "flow runs delete sales manual__2026-10-09T00:00:00+00:00",
        "flow runs delete sales --to -365d --dry-run",
    ),
)
def delete(
    context: typer.Context,
    dag: DagArgument,
    run: OneRunArgument = None,
    start: FromOption = None,
    end: ToOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Delete runs that have ended, with their tasks, tries and XComs. Their logs stay.

    The schedule does not go back: none of them is made again, except the one of a DAG that runs
    once. An active run is refused; cancel it first.
    """
    from flow.ops import deleting
    from flow.ops.run_ranges import Which
    from flow_cli.confirm import confirm
    from flow_cli.run_ends import describe_deleted, report_deleted

    printer, which, only = Output(output), Which(run, start, end), None
    with opened(context) as deployment:
        if dry_run or not yes:
            plan = deleting.delete(deployment, dag, which, dry_run=True)
            if dry_run:
                report_deleted(printer, plan, dry_run=True)
                return
            printer.message("\n".join(describe_deleted(plan)))
            confirm(f"Delete {counted(len(plan.runs), 'run')} of {dag}?", yes=yes)
            which, only = _shown(which, plan)
        done = deleting.delete(deployment, dag, which, only)
    report_deleted(printer, done, dry_run=False)


def _shown(which: Which, plan: Cancelling | Deleting) -> tuple[Which, set[str]]:
    """Exactly the runs that were shown: `latest` may be another one by now, and a range longer."""
    from flow.ops.run_ranges import Which

    only = {one.run_id for one in plan.runs}
    return (Which(next(iter(only))) if which.reference is not None else which), only
