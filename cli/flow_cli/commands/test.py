"""`flow test`: a run of a DAG file without any database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flow_cli import exits
from flow_cli.cells import text_of
from flow_cli.invocation import invocation
from flow_cli.options import OutputOption
from flow_cli.output import Column, Format, Output
from flow_cli.pages import Command, examples, single
from flow_cli.records import row_of
from flow_cli.states import style_of

if TYPE_CHECKING:
    from flow.ops.rehearsal import News, Result, TryEnded
    from flow_cli.log_printer import LogPrinter

app = single()

COLUMNS = (
    Column("task_id", "task"),
    Column("state", style=style_of),
    Column("tried", "tries", right=True),
    Column("took", "duration", right=True),
    Column("reason"),
)


@app.command(
    cls=Command,
    epilog=examples(
        "flow test dags/daily_sales.py",
        "flow test dags/daily_sales.py:daily_sales --date 2026-10-09 -t load+ --no-wait",
        "flow test dags/daily_sales.py --var country=ch --conn shop=postgres://me@localhost/shop",
    ),
)
def test(
    context: typer.Context,
    target: Annotated[
        str, typer.Argument(metavar="FILE[:DAG]", help="A DAG file, and which DAG of several.")
    ],
    date: Annotated[
        str | None,
        typer.Option(
            "--date",
            metavar="DATE",
            help="Start of the interval that the run is for; by default the latest complete one.",
        ),
    ] = None,
    selection: Annotated[
        str | None,
        typer.Option(
            "-t", metavar="SELECTION", help="Only these tasks: load, +load, load+, 'extract_*'."
        ),
    ] = None,
    conf: Annotated[
        str | None,
        typer.Option("--conf", metavar="JSON|@FILE", help="JSON object that tasks can read."),
    ] = None,
    variables: Annotated[
        list[str] | None, typer.Option("--var", metavar="KEY=VALUE", help="A variable.")
    ] = None,
    connections: Annotated[
        list[str] | None,
        typer.Option("--conn", metavar="ID=URI", help="A connection, as a URI or as JSON."),
    ] = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Try again at once, without the retry delay.")
    ] = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Run a DAG of a file here and now, without any database.

    Prints what each task says on stderr, and at the end how each one ended; exit 1 when the run
    failed. Variables and connections are those given, else those of the environment (FLOW_VAR_…,
    FLOW_CONN_…). Ctrl-C ends every process.
    """
    from flow.ops.rehearsal import Request, Result, Settings, rehearse
    from flow_cli.log_printer import LogPrinter
    from flow_cli.texts import given

    settings = invocation(context).config.settings
    printer = Output(output)
    logs = LogPrinter(printer.err, [Path(target).name])
    request = Request(
        target,
        date,
        selection,
        given(conf) if conf is not None else None,
        variables or (),
        connections or (),
    )
    pace = Settings(
        folders=settings.dags.folders,
        timezone=settings.dags.default_timezone,
        import_timeout=settings.parse.timeout,
        kill_grace=settings.worker.kill_grace,
        wait=not no_wait,
    )
    result: Result | None = None
    try:
        for news in rehearse(request, pace):
            if isinstance(news, Result):
                result = news
            else:
                _tell(printer, logs, news)
    finally:
        logs.close()
    if result is not None:
        _conclude(printer, result)


def _tell(printer: Output, logs: LogPrinter, news: News) -> None:
    from flow.ops.rehearsal import Began, Said, TryEnded, Warned

    if isinstance(news, Said):
        logs.write(news.who, news.text)
        return
    logs.end_line()
    if isinstance(news, Began):
        logs.expect(news.task_ids)
        interval = f"{text_of(news.data_interval_start)} to {text_of(news.data_interval_end)}"
        printer.message(f"{news.dag_id} {news.run_id}: {interval}")
    elif isinstance(news, Warned):
        printer.warning(news.text)
    elif isinstance(news, TryEnded):
        printer.message(_sentence(news))


def _sentence(ended: TryEnded) -> str:
    reason = f": {ended.reason}" if ended.reason else ""
    if ended.retry_in is None:
        return f"{ended.task_id} is {ended.state}{reason}"
    following = f"try {ended.try_number + 1}"
    when = f"{following} in {ended.retry_in:.0f} s" if ended.retry_in else f"{following} follows"
    wait = " (--no-wait does not wait)" if ended.retry_in else ""
    return f"{ended.task_id}: try {ended.try_number} failed{reason}; {when}{wait}"


def _conclude(printer: Output, result: Result) -> None:
    """Print the result and end as the run ended."""
    if printer.format is Format.TEXT:
        rows = [
            {
                **row_of(task),
                "tried": f"{task.try_number}/{task.max_tries}" if task.try_number else None,
                "took": f"{task.duration_s:.2f} s" if task.duration_s is not None else None,
            }
            for task in result.tasks
        ]
        printer.table(rows, COLUMNS, "tasks")
    else:
        printer.lines([], row_of(result))
    seconds = (result.ended_at - result.started_at).total_seconds()
    state = "interrupted" if result.state == "running" else result.state
    printer.message(f"{result.dag_id} {result.run_id}: {state} in {seconds:.2f} s")
    if result.state == "running":
        raise typer.Exit(exits.INTERRUPTED)
    if result.state != "success":
        raise typer.Exit(exits.FAILED)
