"""`flow db`: the database itself."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from flow_cli import exits
from flow_cli.invocation import invocation
from flow_cli.opening import opened
from flow_cli.options import OutputOption
from flow_cli.output import Column, Format, Output
from flow_cli.pages import Command, examples, group
from flow_cli.records import print_record, row_of

app = group("Migrate, inspect and check the database.", "flow db migrate", "flow db status -o json")

BREACH_COLUMNS = (Column("invariant", "no", right=True), Column("subject"), Column("detail"))
DEFAULT_DAYS = 1.0


@app.command(cls=Command, epilog=examples("flow db migrate"))
def migrate(context: typer.Context, output: OutputOption = Format.TEXT) -> None:
    """Bring the database to the schema of this version; make the embedded one when missing."""
    from flow.ops import database

    done = database.migrate_schema(invocation(context).config.settings)
    if done.before == done.after:
        text = f"the schema is at {done.after} already"
    else:
        text = f"the schema went from {done.before or 'nothing'} to {done.after}"
    Output(output).lines([text], row_of(done))


@app.command(cls=Command, epilog=examples("flow db status"))
def status(context: typer.Context, output: OutputOption = Format.TEXT) -> None:
    """Show where the schema stands; exit 5 when this version of Flow cannot work with it."""
    from flow.ops import database

    printer = Output(output)
    found = database.schema_status(invocation(context).config.settings)
    print_record(printer, row_of(found))
    if not found.migrated:
        printer.message("run `flow db migrate`")
    if not found.usable:
        raise typer.Exit(exits.DATABASE)


@app.command(cls=Command, epilog=examples("flow db check", "flow db check --all -o json"))
def check(
    context: typer.Context,
    days: Annotated[
        float, typer.Option("--days", min=0, metavar="N", help="Look at runs of the last N days.")
    ] = DEFAULT_DAYS,
    every: Annotated[
        bool, typer.Option("--all", help="Look at all finished runs, however many.")
    ] = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Verify what always holds (flow-internals(7)); exit 1 when something does not."""
    from flow.ops import database

    printer = Output(output)
    with opened(context) as deployment:
        breaches = database.check(deployment, None if every else days)
    if printer.format is not Format.TEXT or breaches:
        printer.table([row_of(breach) for breach in breaches], BREACH_COLUMNS, "breaches")
    if not breaches:
        printer.message("everything holds")
        return
    broken = {breach.invariant: breach.sentence for breach in breaches}
    printer.message("\n".join(f"broken: {number}. {text}" for number, text in broken.items()))
    raise typer.Exit(exits.FAILED)


@app.command(cls=Command, epilog=examples("flow db shell", "flow db shell -c 'select now()'"))
def shell(
    context: typer.Context,
    command: Annotated[
        str | None, typer.Option("-c", "--command", metavar="SQL", help="Run this and leave.")
    ] = None,
) -> None:
    """Become psql on the database. The login is neither in its arguments nor its environment."""
    from flow.ops import database

    arguments = [] if command is None else ["-c", command]
    found = database.shell(invocation(context).config.settings, arguments)
    os.execve(found.program, found.arguments, found.environment)
