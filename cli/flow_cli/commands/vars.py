"""`flow vars`: named texts that tasks share."""

from __future__ import annotations

from typing import Annotated

import typer

from flow.errors import UsageError
from flow_cli.deleting import delete_named, report_deleted
from flow_cli.opening import opened
from flow_cli.options import (
    DEFAULT_LIMIT,
    AllOption,
    DryRunOption,
    LimitOption,
    OutputOption,
    YesOption,
    row_limit,
)
from flow_cli.output import Column, Format, Output
from flow_cli.pages import Command, examples, group
from flow_cli.records import print_page, row_of
from flow_cli.transfer import (
    ExistingOption,
    ExportArgument,
    ImportArgument,
    deliver,
    policy_of,
    report_imported,
)

app = group(
    "Keep variables, the texts that tasks share. They are encrypted in the database.",
    "flow vars set region eu-west",
    "flow vars get region",
)

COLUMNS = (Column("key"), Column("description"), Column("updated_at", "updated"))
KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="Key of the variable.")]


@app.command("list", cls=Command, epilog=examples("flow vars list"))
def list_(
    context: typer.Context,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List the variables in the database, without their values."""
    from flow.ops import variables

    with opened(context) as deployment:
        page = variables.page(deployment, row_limit(limit, every))
    print_page(Output(output), page, [row_of(one) for one in page.rows], COLUMNS, "variables")


@app.command(cls=Command, epilog=examples("flow vars get region"))
def get(context: typer.Context, key: KeyArgument, output: OutputOption = Format.TEXT) -> None:
    """Print the value of a variable.

    An environment variable FLOW_VAR_KEY goes before the database: the key in upper case, with _ for
    everything but letters and digits. Tasks see the environment of their worker.
    """
    from flow.ops import variables
    from flow.secrets.lookup import STORE

    printer = Output(output)
    with opened(context) as deployment:
        found = variables.get(deployment, key)
    printer.raw(found.value, row_of(found))
    if found.origin != STORE:
        printer.message(f"from {found.origin} in the environment")


@app.command(
    "set",
    cls=Command,
    epilog=examples("flow vars set region eu-west", "flow vars set token @token.txt"),
)
def set_(
    context: typer.Context,
    key: KeyArgument,
    value: Annotated[
        str | None,
        typer.Argument(
            metavar="VALUE|@FILE",
            help="Its text, which others may see in ps; @- is stdin.",
        ),
    ] = None,
    from_file: Annotated[
        str | None,
        typer.Option("--from-file", metavar="FILE", help="The same as @FILE; - is stdin."),
    ] = None,
    description: Annotated[
        str | None, typer.Option("--description", metavar="TEXT", help="What it is for.")
    ] = None,
    output: OutputOption = Format.TEXT,
) -> None:
    """Set a variable. Without a description it keeps the one it has.

    A value that begins with @ names a file that holds the text. A text that itself begins with @
    comes from a file or the standard input: printf '@home' | flow vars set sign @-
    """
    from flow.ops import variables
    from flow_cli.texts import given, read

    if (value is None) == (from_file is None):
        raise UsageError("a variable has one value", "give VALUE, @FILE or --from-file FILE")
    text = read(from_file) if from_file is not None else given(value) or ""
    with opened(context) as deployment:
        new = variables.set_(deployment, key, text, description)
    done = "is set" if new else "is overwritten"
    Output(output).lines([f"{key} {done}"], {"key": key, "created": new})


@app.command(cls=Command, epilog=examples("flow vars delete region"))
def delete(
    context: typer.Context,
    key: KeyArgument,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Delete a variable."""
    from flow.ops import variables

    printer = Output(output)
    delete_named(context, variables, "variable", key, yes=yes, dry_run=dry_run)
    report_deleted(printer, key, {"key": key}, dry_run=dry_run)


@app.command("import", cls=Command, epilog=examples("flow vars import variables.json"))
def import_(
    context: typer.Context,
    file: ImportArgument,
    existing: ExistingOption = None,
    output: OutputOption = Format.TEXT,
) -> None:
    """Set variables from a JSON object, all or none.

    Its keys are the variables' keys; a value is a text, an object with value and description, or
    anything else, which is stored as JSON.
    """
    from flow.ops import variables
    from flow_cli.texts import read

    text = read(file)
    with opened(context) as deployment:
        done = variables.import_(deployment, text, policy_of(existing))
    report_imported(Output(output), done, "is set")


@app.command(cls=Command, epilog=examples("flow vars export variables.json"))
def export(context: typer.Context, file: ExportArgument = "-") -> None:
    """Write all variables of the database as JSON, values and all."""
    from flow.ops import variables

    with opened(context) as deployment:
        text = variables.export(deployment)
    deliver(file, text)
