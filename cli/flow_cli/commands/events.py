"""`flow events`: what happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flow.task_reference import task_reference
from flow.wording.cells import text_of
from flow_cli.opening import opened
from flow_cli.options import DEFAULT_LIMIT, AllOption, LimitOption, OutputOption, row_limit
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single
from flow_cli.records import row_of

if TYPE_CHECKING:
    from flow.store.read.events import Event

app = single()


@app.command(
    cls=Command,
    epilog=examples(
        "flow events", "flow events sales latest -f", "flow events --since -2h -o jsonl"
    ),
)
def events(
    context: typer.Context,
    dag: Annotated[
        str | None, typer.Argument(metavar="DAG", help="Only of this DAG; by default of all.")
    ] = None,
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="Only of this run: latest, a run id, or a date."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="DATE",
            help="Then or later; by default the last hour, of a run since it was made.",
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Go on with each as it happens, until Ctrl-C.")
    ] = False,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Show what happened, oldest first: to runs, tries, processes and files.

    What `flow audit` has is among it. With -o json every event has its time, its kind, what it is
    about, the state that this had then, and who or which process it was. Kinds are run_queued,
    run_started, run_ended, try_started, try_ended, process_started, process_ended, import_error,
    and the verbs of `flow audit`.
    """
    from flow.errors import UsageError
    from flow.ops import events as operation

    if follow and output is Format.JSON:
        raise UsageError("with -f a JSON document would never end", "Write -o jsonl.")
    printer = Output(output)
    asked = operation.Asked(dag, run, since, row_limit(limit, every))
    with opened(context) as deployment:
        if every and not follow and output is not Format.JSON:
            _print(printer, operation.every(deployment, asked))
        elif not follow:
            found = operation.recent(deployment, asked)
            _print(printer, found)
            if len(found) == asked.limit:
                printer.message(f"the newest {len(found)}; --all shows every one")
        else:
            _print(printer, operation.follow(deployment, asked))


def _print(printer: Output, events: Iterable[Event]) -> None:
    if printer.format is not Format.TEXT:
        printer.table(_rows(printer, events), (), "events")
        return
    seen = False
    for event in events:
        seen = True
        printer.lines([_line(event)], {})
        printer.out.flush()
    if not seen:
        printer.message("no events")


def _rows(printer: Output, events: Iterable[Event]) -> Iterator[dict[str, Any]]:
    for event in events:
        yield row_of(event)
        printer.out.flush()


def _line(event: Event) -> str:
    task = event.task_id and task_reference(event.task_id, event.map_index or ())
    about = "/".join(part for part in (event.dag_id, event.run_id, task) if part)
    parts = [
        text_of(event.at),
        event.kind.replace("_", " ").replace(".", " "),
        about,
        f"try {event.try_number}" if event.try_number is not None else "",
        event.state or "",
        f"({event.who})" if event.who else "",
        event.detail if event.detail and event.detail != about else "",
    ]
    return "  ".join(part for part in parts if part)
