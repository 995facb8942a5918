"""`flow check`: what is wrong with DAG files, without any database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flow_cli import exits
from flow_cli.invocation import invocation
from flow_cli.options import ConnectionsOption, VariablesOption
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single

if TYPE_CHECKING:
    from flow.ops.checking import Report, Settings
    from flow.settings import Settings as AllSettings

app = single()


class ReportFormat(StrEnum):
    """The forms of a report."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    JUNIT = "junit"
    GITHUB = "github"
    SARIF = "sarif"


_OUTPUTS = {ReportFormat.JSON: Format.JSON, ReportFormat.JSONL: Format.JSONL}


@app.command(
    cls=Command,
    epilog=examples(
        "flow check",
        "flow check dags --changed origin/main --strict --format github",
        "flow check dags/sales.py --import-budget 0.5",
    ),
)
def check(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH...",
            help="DAG files, or folders with DAG files; by default those of dags.folders.",
        ),
    ] = None,
    changed: Annotated[
        str | None,
        typer.Option(
            "--changed",
            metavar="REF",
            help="Tell only of files that differ from this Git ref, or import what does.",
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            min=0.1,
            metavar="S",
            help="Seconds that one import may take; by default parse.timeout.",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            "--import-budget",
            min=0.0,
            metavar="S",
            help="An import that takes so many seconds is an error, shown with its modules.",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 for warnings too.")] = False,
    also: Annotated[
        list[str] | None,
        typer.Option("--rule", metavar="RULE", help="Look at this rule too, which is off."),
    ] = None,
    variables: VariablesOption = None,
    connections: ConnectionsOption = None,
    output: Annotated[
        ReportFormat,
        typer.Option(
            "--format",
            "-o",
            "--output",
            help="Form of the report: text for people, JSON, JUnit XML, annotations of GitHub "
            "Actions, or SARIF 2.1.0.",
        ),
    ] = ReportFormat.TEXT,
) -> None:
    """Import DAG files as the DAG processor would, and tell what is wrong with them.

    No database is asked. Every file is imported twice, each time in a process of its own: errors,
    slow imports, what an import does beside defining DAGs, and what differs from one import to the
    next are told with their lines. Variables and connections are those given, else those of the
    environment (FLOW_VAR_…, FLOW_CONN_…). Exit 1 when there are errors. The rules, and how to
    silence one in a file: flow-check(7).
    """
    from flow.ops.checking import Request
    from flow.ops.checking import check as operation

    printer = Output(_OUTPUTS.get(output, Format.TEXT))
    request = Request(paths or (), changed, also or (), budget, variables or (), connections or ())
    settings = import_settings(invocation(context).config.settings, timeout)
    with _bars(printer) as progress:
        report = operation(request, settings, progress)
    _print(printer, output, report, strict=strict)
    if report.failed(strict=strict):
        raise typer.Exit(exits.FAILED)


def import_settings(settings: AllSettings, timeout: float | None = None) -> Settings:
    """How DAG files are found and imported, as the settings say."""
    from flow.ops.checking import Settings

    return Settings(
        folders=settings.dags.folders,
        timeout=timeout or settings.parse.timeout,
        memory=settings.parse.memory,
        timezone=settings.dags.default_timezone,
        regexp_ignore=settings.parse.airflowignore == "regexp",
        pools=settings.check.pools,
        queues=settings.check.queues,
    )


@contextmanager
def _bars(printer: Output) -> Iterator[Callable[[str, int], Callable[[int], None]]]:
    """Progress bars one after the other: what begins ends the one before."""
    with ExitStack() as shown:

        def begin(label: str, total: int) -> Callable[[int], None]:
            shown.close()
            return shown.enter_context(printer.progress(label, total))

        yield begin


def _print(printer: Output, output: ReportFormat, report: Report, *, strict: bool) -> None:
    from flow_cli import check_page

    folder = str(Path.cwd())
    match output:
        case ReportFormat.GITHUB:
            from flow_cli.check_github import workflow_commands

            printer.out.writelines(f"{line}\n" for line in workflow_commands(report, folder))
        case ReportFormat.JUNIT:
            from flow_cli.check_junit import junit

            printer.out.write(junit(report, folder, strict=strict))
        case ReportFormat.SARIF:
            from flow.ops.checking import RULES
            from flow.version import VERSION
            from flow_cli.check_sarif import sarif

            Output(Format.JSON).lines([], sarif(report, RULES, folder, VERSION))
        case ReportFormat.JSONL:
            printer.table([check_page.row(one, folder) for one in report.findings], (), "findings")
        case _:
            lines = check_page.describe(report, folder)
            printer.lines(lines, check_page.document(report, folder))
    printer.message(check_page.summary(report))
