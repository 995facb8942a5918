"""`flow test`: a run of a DAG file without any database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flow_cli.invocation import invocation
from flow_cli.options import ConfOption, ConnectionsOption, OutputOption, VariablesOption
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single

if TYPE_CHECKING:
    from flow.ops.rehearsal import Result

app = single()


@app.command(
    cls=Command,
    epilog=examples(
        "flow test dags/daily_sales.py",
        "flow test dags/daily_sales.py:daily_sales --date 2026-10-09 -t load+ --no-wait",
        "flow test dags/daily_sales.py --var country=ch --conn shop=postgres://me@localhost/shop",
        "flow test dags/daily_sales.py --jobs 8 --pool warehouse=2 --vars vars.json",
        "flow test dags/daily_sales.py --junit report.xml --github",
        "flow test dags/daily_sales.py --idempotent --date 2026-10-09 -t load",
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
            "-t",
            "--tasks",
            metavar="SELECTION",
            help="Only these: load, +load, load+, 'extract_*', with commas.",
        ),
    ] = None,
    conf: ConfOption = None,
    variables: VariablesOption = None,
    connections: ConnectionsOption = None,
    variables_file: Annotated[
        str | None,
        typer.Option("--vars", metavar="FILE", help="Variables, as flow vars export writes them."),
    ] = None,
    connections_file: Annotated[
        str | None,
        typer.Option(
            "--conns", metavar="FILE", help="Connections, as flow conns export writes them."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            metavar="N",
            min=1,
            help="How many tasks may run at once; by default as many as there are processors.",
        ),
    ] = None,
    pools: Annotated[
        list[str] | None,
        typer.Option(
            "--pool", metavar="NAME=SLOTS", help="Slots of a pool; by default it has no limit."
        ),
    ] = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Try again at once, without the retry delay.")
    ] = False,
    idempotent: Annotated[
        bool,
        typer.Option(
            "--idempotent",
            help="Run the tasks twice and compare what they leave in the outlets they declare;"
            " exit 1 unless it is the same.",
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(
            "--pdb",
            help="Open pdb in a task that has failed; then tasks run one at a time, without time"
            " limits.",
        ),
    ] = False,
    junit: Annotated[
        str | None,
        typer.Option("--junit", metavar="FILE", help="Write a JUnit report to this file as well."),
    ] = None,
    github: Annotated[
        bool,
        typer.Option("--github", help="Print annotations of GitHub Actions on stderr as well."),
    ] = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Run a DAG of a file here and now, without any database.

    Prints what each task says on stderr, and at the end how each one ended; exit 1 when the run
    failed. Variables and connections are those given, else those of the environment (FLOW_VAR_…,
    FLOW_CONN_…), else those of [test] in flow.toml. Ctrl-C ends every process. flow-test(7) has
    the rules of outlets and of comparing two runs.
    """
    from flow.ops.rehearsal import ImportFailed, Request, Result, Settings, rehearse
    from flow_cli.log_printer import LogPrinter
    from flow_cli.rehearsal_page import conclude, tell
    from flow_cli.rehearsal_report import Reports
    from flow_cli.texts import given, read, terminal_of_input

    settings = invocation(context).config.settings
    printer = Output(output)
    logs = LogPrinter(printer.err, [Path(target).name])
    request = Request(
        target,
        date,
        selection,
        given(conf),
        variables or (),
        connections or (),
        read(variables_file) if variables_file is not None else None,
        read(connections_file) if connections_file is not None else None,
        pools or (),
        idempotent,
    )
    pace = Settings(
        folders=settings.dags.folders,
        timezone=settings.dags.default_timezone,
        import_timeout=settings.parse.timeout,
        kill_grace=settings.worker.kill_grace,
        wait=not no_wait,
        jobs=jobs,
        pools=settings.test.pools,
        terminal=terminal_of_input("--pdb") if debug else None,
        variables=settings.test.variables,
        connections=settings.test.connections,
    )
    reports = Reports(junit, github)
    result: Result | None = None
    try:
        for news in rehearse(request, pace):
            if isinstance(news, Result):
                result = news
            else:
                tell(printer, logs, news)
    except ImportFailed as failed:
        reports.write(printer, failed)
        raise
    finally:
        logs.close()
    if result is not None:
        code = conclude(printer, result)
        reports.write(printer, result)
        raise typer.Exit(code)
