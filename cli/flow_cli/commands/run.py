"""`flow run`: a run by hand."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from flow_cli import exits
from flow_cli.opening import opened
from flow_cli.options import ConfOption, DagArgument, OutputOption
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single
from flow_cli.records import row_of

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment
    from flow.store.read.runs import FoundRun, Run

app = single()


@app.command(
    cls=Command,
    epilog=examples(
        "flow run sales",
        "flow run sales --date 2026-10-09 --wait",
        """flow run sales --conf '{"country": "ch"}'""",
    ),
)
def run(
    context: typer.Context,
    dag: DagArgument,
    date: Annotated[
        str | None,
        typer.Option(
            "--date", metavar="DATE", help="Make the run of the interval that starts then."
        ),
    ] = None,
    interval: Annotated[
        tuple[str, str] | None,
        typer.Option("--interval", metavar="START END", help="Make a run for this interval."),
    ] = None,
    run_id: Annotated[
        str | None, typer.Option("--run-id", metavar="ID", help="Id of the run, to be chosen.")
    ] = None,
    conf: ConfOption = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for its end; exit 1 when it failed.")
    ] = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Start a run of a DAG, and print its id.

    Without a date the run is ad hoc: its logical date is now, and its interval is the last complete
    one. A run of a paused DAG stays queued until the DAG is unpaused.
    """
    from flow.ops import missing_roles, running
    from flow.ops.running import Wish
    from flow_cli.detaching import Detaching
    from flow_cli.missing_roles import warn
    from flow_cli.texts import given

    printer = Output(output)
    wish = Wish(dag, date, interval, run_id, given(conf))
    with opened(context) as deployment, Detaching(printer) as detaching:
        started = running.run(deployment, wish)
        made = started.found.run
        if started.paused:
            printer.warning(
                f"DAG {made.dag_id} is paused: the run stays queued until "
                f"`flow dags unpause {made.dag_id}`"
            )
        if not wait:
            _print(printer, made)
        warn(printer, missing_roles.for_runs(deployment, [started.found]))
        if not wait:
            printer.message(f"see how it is doing: flow runs show {made.dag_id} {made.run_id}")
            return
        detaching.goes_on(
            f"the run goes on; see it with: flow runs show {made.dag_id} {made.run_id}"
        )
        ended = _wait(deployment, started.found)
    _print(printer, ended)
    printer.message(f"{ended.dag_id} {ended.run_id}: {ended.state}")
    if ended.state != "success":
        raise typer.Exit(exits.FAILED)


def _wait(deployment: Deployment, found: FoundRun) -> Run:
    from flow.ops import waiting
    from flow_cli.progress import progress_bar

    steps = waiting.follow(deployment.conn, [found])
    progress = next(steps)
    with progress_bar(sys.stderr, found.run.run_id, progress.total) as advance:
        for progress in steps:
            advance(progress.done)
    return progress.runs[0].run


def _print(printer: Output, run: Run) -> None:
    printer.lines([run.run_id], row_of(run))
