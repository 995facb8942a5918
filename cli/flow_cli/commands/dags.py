"""`flow dags`: the DAGs of a deployment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flow.wording.cells import counted
from flow.wording.differences import short_hash
from flow_cli.dag_page import describe
from flow_cli.diff_page import describe_diff
from flow_cli.opening import opened
from flow_cli.options import (
    DEFAULT_LIMIT,
    AllOption,
    DagArgument,
    DryRunOption,
    LimitOption,
    OutputOption,
    YesOption,
    row_limit,
)
from flow_cli.output import Column, Format, Output
from flow_cli.pages import Command, examples, group
from flow_cli.records import plain, print_page, row_of

app = group(
    "List, show, pause and delete DAGs, see next runs, and what is wrong with their files.",
    "flow dags list",
    "flow dags show sales",
)

NEXT_SHOWN = 10
COLUMNS = (
    Column("dag_id", "dag"),
    Column("paused"),
    Column("schedule"),
    Column("next_run_at", "next run"),
    Column("owner", spare=True),
    Column("tags", spare=True),
    Column("has_import_error", "broken"),
)
NEXT_COLUMNS = (
    Column("run_at"),
    Column("data_interval_start", "interval from"),
    Column("data_interval_end", "to", spare=True),
)
ERROR_COLUMNS = (Column("file"), Column("line", right=True), Column("error"), Column("since"))
WARNING_COLUMNS = (Column("file"), Column("dag_id"), Column("warning"))
VERSION_COLUMNS = (
    Column("number", "version", right=True),
    Column("created_at", "created"),
    Column("spec_hash", "graph"),
    Column("code_hash", "code"),
    Column("bundle_version", "bundle version", spare=True),
)
DagsArgument = Annotated[
    list[str], typer.Argument(metavar="DAG...", help="Ids of the DAGs; all of them or none.")
]


@app.command(
    "list",
    cls=Command,
    epilog=examples("flow dags list", "flow dags list --tag finance --failed -o json"),
)
def list_(
    context: typer.Context,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="With this tag; given twice, with either."),
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="NAME", help="Of this owner.")
    ] = None,
    paused: Annotated[
        bool | None, typer.Option("--paused/--unpaused", help="Only paused, or only unpaused.")
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only those whose latest run failed.")
    ] = False,
    gone: Annotated[
        bool, typer.Option("--gone", help="Those that no file defines any more, and no others.")
    ] = False,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List the DAGs.

    A DAG whose file has never been imported without an error is not among them.
    """
    from flow.ops import dags

    printer = Output(output)
    wanted = dags.Filter(tag or (), owner, paused, failed, gone)
    with opened(context) as deployment:
        if printer.streams(every):
            printer.table(map(row_of, dags.every(deployment, wanted)), COLUMNS, "DAGs")
        else:
            page = dags.page(deployment, wanted, row_limit(limit, every))
            print_page(printer, page, [row_of(dag) for dag in page.rows], COLUMNS, "DAGs")
        broken = dags.broken_files(deployment)
    if broken:
        printer.message(f"{counted(broken, 'file')} cannot be imported: flow dags errors")


@app.command(cls=Command, epilog=examples("flow dags show sales", "flow dags show sales -o json"))
def show(context: typer.Context, dag: DagArgument, output: OutputOption = Format.TEXT) -> None:
    """Show one DAG: its schedule in words, its tasks, next runs, versions and warnings."""
    from flow.ops import dags

    with opened(context) as deployment:
        details = dags.show(deployment, dag)
    Output(output).lines(*describe(details))


@app.command(
    "next",
    cls=Command,
    epilog=examples("flow dags next sales", "flow dags next sales --from 2026-10-24 -n 40 -o json"),
)
def next_(
    context: typer.Context,
    dag: DagArgument,
    count: Annotated[
        int, typer.Option("-n", "--count", min=1, metavar="N", help="How many runs at most.")
    ] = NEXT_SHOWN,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="DATE",
            help="Of the intervals that start then or later, also of those that have a run.",
        ),
    ] = None,
    output: OutputOption = Format.TEXT,
) -> None:
    """List the runs that the schedule of a DAG makes next, and say the schedule in words.

    How schedules are read: flow-time(7).
    """
    from flow.ops.next_runs import next_runs

    printer = Output(output)
    with opened(context) as deployment:
        found = next_runs(deployment, dag, count, start)
    if printer.format is Format.TEXT:
        printer.message(f"{found.dag_id}: {found.schedule}")
        if not found.present:
            printer.message("its file does not define it any more: no run is created")
        elif found.paused:
            printer.message(f"it is paused: no run is created before `flow dags unpause {dag}`")
    printer.table([row_of(run) for run in found.runs], NEXT_COLUMNS, "next runs")


@app.command(cls=Command, epilog=examples("flow dags pause sales stock"))
def pause(context: typer.Context, dags: DagsArgument, output: OutputOption = Format.TEXT) -> None:
    """Let no new run of DAGs be created or started. Runs that are running go on."""
    from flow.ops import pausing
    from flow.wording.pausing import paused

    with opened(context) as deployment:
        done = pausing.pause(deployment, dags)
    Output(output).lines([paused(one) for one in done], {"dags": plain(done)})


@app.command(cls=Command, epilog=examples("flow dags unpause sales"))
def unpause(context: typer.Context, dags: DagsArgument, output: OutputOption = Format.TEXT) -> None:
    """Let DAGs go on, and say which runs follow from it.

    What was missed while a DAG was paused is made up for as its catchup says: all intervals with
    true, the latest complete one with false, nothing before the next tick with "none".
    """
    from flow.ops import pausing
    from flow.wording.pausing import consequences

    with opened(context) as deployment:
        unpaused = pausing.unpause(deployment, dags)
    texts = [line for one in unpaused for line in consequences(one)]
    Output(output).lines(texts, {"dags": plain(unpaused)})


@app.command(cls=Command, epilog=examples("flow dags errors", "flow dags errors dags/sales.py"))
def errors(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Show what the last import of this file said."),
    ] = None,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List the DAG files that cannot be imported, or show one with its traceback.

    Their DAGs go on in the last version that could be imported.
    """
    from flow.ops import dags
    from flow.wording.dags import describe_file

    printer = Output(output)
    with opened(context) as deployment:
        if file is not None:
            report = dags.file_report(deployment, file)
            printer.lines(describe_file(report), row_of(report))
            return
        page = dags.errors(deployment, row_limit(limit, every))
    print_page(printer, page, [row_of(one) for one in page.rows], ERROR_COLUMNS, "import errors")


@app.command(
    cls=Command, epilog=examples("flow dags warnings", "flow dags warnings dags/sales.py --slow 5")
)
def warnings(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Only of this DAG file.")
    ] = None,
    slow: Annotated[
        float,
        typer.Option(
            "--slow", min=0.0, metavar="S", help="Seconds from which on an import is slow."
        ),
    ] = 1.0,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List what importing DAG files warned of, and slow imports with the module to blame.

    A pool that does not exist, or is too small for a task of a DAG, is one too. What processors
    cannot read in the DAG folders, or do not heed of an ignore file, comes first.
    """
    from flow.ops import dag_warnings

    with opened(context) as deployment:
        page = dag_warnings.page(deployment, file, slow, row_limit(limit, every))
    rows = [row_of(one) for one in page.rows]
    print_page(Output(output), page, rows, WARNING_COLUMNS, "warnings")


@app.command(cls=Command, epilog=examples("flow dags versions sales"))
def versions(
    context: typer.Context,
    dag: DagArgument,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List the versions of a DAG, newest first.

    A version is a graph and the code that it came from. Every run stays with the graph of the
    version it started with.
    """
    from flow.ops import dags

    with opened(context) as deployment:
        page = dags.versions(deployment, dag, row_limit(limit, every))
    rows = [row_of(one) for one in page.rows]
    if output is Format.TEXT:
        hashes = ("spec_hash", "code_hash")
        rows = [{**row, **{name: short_hash(row[name]) for name in hashes}} for row in rows]
    print_page(Output(output), page, rows, VERSION_COLUMNS, "versions")


@app.command(
    cls=Command, epilog=examples("flow dags diff sales", "flow dags diff sales 1 2 -o json")
)
def diff(
    context: typer.Context,
    dag: DagArgument,
    first: Annotated[
        int | None,
        typer.Argument(metavar="A", help="Number of a version; by default the last but one."),
    ] = None,
    second: Annotated[
        int | None, typer.Argument(metavar="B", help="Number of another; by default the latest.")
    ] = None,
    output: OutputOption = Format.TEXT,
) -> None:
    """Show what changed between two versions of a DAG: tasks, their fields, edges, schedule."""
    from flow.ops import dag_diff

    with opened(context) as deployment:
        found = dag_diff.diff(deployment, dag, first, second)
    Output(output).lines(*describe_diff(found))


@app.command(
    cls=Command,
    epilog=examples("flow dags delete sales", "flow dags delete stock --begin-anew --dry-run"),
)
def delete(
    context: typer.Context,
    dag: DagArgument,
    begin_anew: Annotated[
        bool,
        typer.Option(
            "--begin-anew",
            help="Of a paused DAG that its file defines: delete all but its latest version, and "
            "let its schedule begin like that of a new DAG.",
        ),
    ] = False,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Delete a DAG with its runs, versions and backfills. Its logs stay.

    Refused as long as a file defines it, since it would come back, and while a run or a backfill of
    it has not ended. What `flow audit` tells of it stays.
    """
    from flow.ops import dag_deletion
    from flow.wording.dags import describe_deletion
    from flow_cli.confirm import confirm
    from flow_cli.deleting import becomes
    from flow_cli.partly import Partly

    printer = Output(output)
    with opened(context) as deployment:
        planned = dag_deletion.preview(deployment, dag, begin_anew=begin_anew)
        if not dry_run:
            if not yes:
                printer.message("\n".join(describe_deletion(planned)))
            what = "the history of DAG" if begin_anew else "DAG"
            confirm(f"Delete {what} {dag}?", yes=yes)
            total = planned.run_count
            with Partly(printer, total) as partly, printer.progress("runs", total) as advance:

                def deleted(gone: int) -> None:
                    partly.advance(gone)
                    advance(gone)

                planned = dag_deletion.delete(
                    deployment,
                    dag,
                    None if yes else planned,
                    begin_anew=begin_anew,
                    advance=deleted,
                )
    first, *rest = describe_deletion(planned)
    lines = [f"{first}; {becomes(dry_run=dry_run)}", *rest]
    printer.lines(lines, {"dry_run": dry_run, **row_of(planned)})
    printer.message(f"its logs stay: {planned.logs}")
    if begin_anew and not dry_run:
        printer.message(f"its schedule begins anew with: flow dags unpause {dag}")
