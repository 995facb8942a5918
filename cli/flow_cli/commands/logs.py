"""`flow logs`: what tasks have written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flow_cli.opening import opened
from flow_cli.options import DagArgument, OutputOption, RunArgument, TryOption
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single
from flow_cli.records import row_of

if TYPE_CHECKING:
    from flow.ops.logs import Piece, Source

app = single()


@app.command(
    cls=Command,
    epilog=examples(
        "flow logs sales latest load",
        "flow logs sales 2026-10-09 extract load -f",
        "flow logs sales latest",
        "flow logs sales latest '*' -f",
        "flow logs sales latest load --try 1 --grep ERROR --tail 20",
    ),
)
def logs(
    context: typer.Context,
    dag: DagArgument,
    run: RunArgument,
    tasks: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TASK...",
            help="The tasks: load, group.load, +load, load+, 'extract_*', with commas; by default "
            "those that failed.",
        ),
    ] = None,
    try_number: TryOption = None,
    follow: Annotated[
        bool,
        typer.Option("-f", "--follow", help="Print what is added, until the tasks have ended."),
    ] = False,
    tail: Annotated[
        int | None, typer.Option("--tail", min=0, metavar="N", help="Begin with the last N lines.")
    ] = None,
    grep: Annotated[
        str | None, typer.Option("--grep", metavar="RE", help="Only lines in which this is found.")
    ] = None,
    output: OutputOption = Format.TEXT,
) -> None:
    """Print the logs of tasks, by default of the last try.

    Without a task those that failed are meant. Bytes that are not UTF-8 and control characters are
    shown escaped. With several tasks, or a selection of them, each line begins with the name of
    its task; of a selection those are left out that have no log. Of a task that has not run since
    it was cleared, the last try is one from before, and that is said; so is where the logs are that
    a deleted run of the same id has left.
    """
    from flow.enumeration import few
    from flow.ops import logs as operation
    from flow_cli.unrun import tell_unrun

    printer = Output(output)
    asked = operation.Request(dag, run, tasks or (), try_number, tail, grep)
    with opened(context) as deployment:
        request = operation.chosen(deployment, asked)
        labels = request.tasks if request.selected or len(request.tasks) > 1 else ()
        read = operation.follow if follow else operation.read
        try:
            pieces, unrun, earlier = read(deployment, request)
            tell_unrun(printer, unrun)
            if earlier:
                printer.message(f"an earlier run of this id has left logs too: {few(earlier, 3)}")
            match output:
                case Format.TEXT:
                    _print(printer, pieces, labels)
                case Format.JSON:
                    printer.table(_documents(pieces), (), "logs")
                case Format.JSONL:
                    printer.table(_lines(printer, pieces), (), "lines")
        except KeyboardInterrupt:
            if follow:
                printer.message(f"the run goes on; see it with: flow runs show {dag} {run}")
            raise


def _print(printer: Output, pieces: Iterable[Piece], labels: Sequence[str]) -> None:
    from flow_cli.log_printer import LogPrinter

    logs = LogPrinter(printer.out, labels)
    tries: dict[str, int] = {}
    try:
        for source, text in pieces:
            if tries.setdefault(source.task, source.try_number) != source.try_number:
                tries[source.task] = source.try_number
                logs.end_line()
                printer.message(f"{source.task}: try {source.try_number}")
            logs.write(source.task, text)
    finally:
        logs.close()


def _documents(pieces: Iterable[Piece]) -> list[dict[str, Any]]:
    """One object for each try, with its whole text."""
    texts: dict[str, tuple[Source, list[str]]] = {}
    for source, text in pieces:
        texts.setdefault(source.log, (source, []))[1].append(text)
    return [{**row_of(source), "text": "".join(parts)} for source, parts in texts.values()]


def _lines(printer: Output, pieces: Iterable[Piece]) -> Iterator[dict[str, Any]]:
    """One object for each line, as they come."""
    from flow.logs.text import Lines

    begun: dict[str, tuple[Source, Lines]] = {}
    for source, text in pieces:
        _, lines = begun.setdefault(source.log, (source, Lines()))
        for line in lines.feed(text):
            yield _line(source, line)
        printer.out.flush()
    for source, lines in begun.values():
        for line in lines.finish():
            yield _line(source, line)


def _line(source: Source, line: str) -> dict[str, Any]:
    return {
        "task_id": source.task_id,
        "map_index": source.map_index,
        "try_number": source.try_number,
        "line": line,
    }
