"""`flow plan`: the runs that will come, and what a change of DAG files does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flow_cli import exits
from flow_cli.invocation import invocation
from flow_cli.opening import opened
from flow_cli.options import DEFAULT_LIMIT, AllOption, LimitOption, OutputOption, row_limit
from flow_cli.output import Column, Format, Output
from flow_cli.pages import Command, examples, single
from flow_cli.records import print_page, row_of

app = single()

COLUMNS = (
    Column("run_at"),
    Column("dag_id", "dag"),
    Column("data_interval_start", "interval from"),
    Column("data_interval_end", "to", spare=True),
)


@app.command(
    cls=Command,
    epilog=examples(
        "flow plan",
        "flow plan --from 2030-10-01 --to 2030-10-07 --all -o jsonl",
        "flow plan --changed origin/main",
    ),
)
def plan(
    context: typer.Context,
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR...",
            help="With --changed: the DAG folders; by default those of dags.folders.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="DATE", help="Runs that are made then or later."),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="DATE", help="Runs that are made then or earlier; by default for a day."
        ),
    ] = None,
    changed: Annotated[
        str | None,
        typer.Option(
            "--changed",
            metavar="REF",
            help="What the DAG files do, compared with this Git ref. Asks no database.",
        ),
    ] = None,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List the runs that schedulers will make, or show what a change of DAG files does.

    With --changed both states of the files are imported, as they are and as they were where their
    history has parted from REF: which DAGs come and go, which tasks and fields change, the next
    runs before and after, and from which interval on. Exit 1 when a file cannot be imported.
    """
    if changed is not None:
        _change(context, folders, changed, output, dated=start is not None or end is not None)
        return
    from flow.errors import UsageError
    from flow.ops.planning.coming import coming_runs

    if folders:
        raise UsageError(
            f"DAG folders are for --changed, and {folders[0]} was named",
            "name a ref: flow plan --changed origin/main; the runs of one DAG: flow dags next DAG",
        )
    with opened(context) as deployment:
        coming = coming_runs(deployment, start=start, end=end, limit=row_limit(limit, every))
    printer = Output(output)
    print_page(printer, coming.runs, [row_of(run) for run in coming.runs.rows], COLUMNS, "runs")
    if coming.paused and printer.format is Format.TEXT:
        printer.message(f"DAGs that are paused and make none: {coming.paused}")


def _change(
    context: typer.Context,
    folders: list[Path] | None,
    reference: str,
    output: Format,
    *,
    dated: bool,
) -> None:
    from flow.errors import UsageError
    from flow.ops.planning.change import change_plan
    from flow_cli.commands.check import import_settings
    from flow_cli.plan_page import describe_change

    if dated:
        raise UsageError(
            "--from and --to are about the runs of a deployment",
            "with --changed the next runs of each DAG are shown",
        )
    settings = invocation(context).config.settings
    found = change_plan(folders or settings.dags.folders, reference, import_settings(settings))
    Output(output).lines(*describe_change(found, str(Path.cwd())))
    if found.broken:
        raise typer.Exit(exits.FAILED)
