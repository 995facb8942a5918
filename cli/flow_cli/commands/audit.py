"""`flow audit`: who did what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flow_cli.opening import opened
from flow_cli.options import DEFAULT_LIMIT, AllOption, LimitOption, OutputOption, row_limit
from flow_cli.output import Column, Format, Output
from flow_cli.pages import Command, examples, single
from flow_cli.records import print_page, row_of

if TYPE_CHECKING:
    from flow.store.read.audit import AuditEntry

app = single()

COLUMNS = (
    Column("at"),
    Column("who"),
    Column("verb"),
    Column("target"),
    Column("change"),
)


@app.command(
    cls=Command,
    epilog=examples(
        "flow audit --dag sales", "flow audit --who flow --since -7d -o jsonl", "flow audit --all"
    ),
)
def audit(
    context: typer.Context,
    dag: Annotated[
        str | None, typer.Option("--dag", metavar="DAG", help="Of this DAG, its runs and tasks.")
    ] = None,
    who: Annotated[
        str | None,
        typer.Option(
            "--who",
            metavar="NAME",
            help="By this user of the operating system, or this role of the database.",
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="Then or later.")
    ] = None,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Show who changed what, newest first.

    Every change is written down in its own transaction: by whom (user of the operating system, role
    of the database, host), with what verb, and what was so before and after. Values of variables
    and connections are never written.
    """
    from flow.ops import audit as operation

    printer = Output(output)
    asked = operation.Asked(dag, who, since)
    with opened(context) as deployment:
        if printer.streams(every):
            printer.table(map(row_of, operation.every(deployment, asked)), COLUMNS, "entries")
            return
        page = operation.page(deployment, asked, row_limit(limit, every))
    rows = [row_of(entry) for entry in page.rows]
    if printer.format is Format.TEXT:
        rows = [_for_people(entry) for entry in page.rows]
    print_page(printer, page, rows, COLUMNS, "entries")


def _for_people(entry: AuditEntry) -> dict[str, Any]:
    who = f"{entry.os_user}@{entry.host}"
    if entry.db_role not in (entry.os_user, "flow"):
        who += f" as {entry.db_role}"
    return {
        "at": entry.at,
        "who": who,
        "verb": entry.verb.replace(".", " "),
        "target": entry.target,
        "change": ", ".join(_changes(entry.before or {}, entry.after or {})),
    }


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What is different, a field each; of a list or an object only how much it holds."""
    return [
        f"{name}: {_short(before[name])} -> {_short(after.get(name))}"
        if before.get(name) is not None
        else f"{name}: {_short(after[name])}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]


def _short(value: object) -> str:
    if isinstance(value, list | dict):
        return str(len(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)
