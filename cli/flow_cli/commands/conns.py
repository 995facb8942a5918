"""`flow conns`: where other systems are and how to log in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from flow.errors import UsageError
from flow_cli import exits
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
from flow_cli.records import print_page, print_record, row_of
from flow_cli.transfer import (
    ExistingOption,
    ExportArgument,
    ImportArgument,
    deliver,
    policy_of,
    report_imported,
)

if TYPE_CHECKING:
    from flow.authoring.connection import Connection

app = group(
    "Keep connections to other systems. They are encrypted in the database.",
    "flow conns add warehouse --uri @warehouse.uri",
    "flow conns test warehouse",
)

COLUMNS = (
    Column("conn_id", "connection"),
    Column("conn_type", "type"),
    Column("description"),
    Column("updated_at", "updated"),
)
ConnArgument = Annotated[str, typer.Argument(metavar="CONN", help="Id of the connection.")]


@app.command("list", cls=Command, epilog=examples("flow conns list", "flow conns list -o json"))
def list_(
    context: typer.Context,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List the connections in the database, without what is secret."""
    from flow.ops import connections

    with opened(context) as deployment:
        page = connections.page(deployment, row_limit(limit, every))
    print_page(Output(output), page, [row_of(one) for one in page.rows], COLUMNS, "connections")


@app.command(
    cls=Command,
    epilog=examples("flow conns get warehouse", "flow conns get warehouse --reveal -o json"),
)
def get(
    context: typer.Context,
    conn: ConnArgument,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Print passwords and other texts instead of ***.")
    ] = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Show a connection.

    An environment variable FLOW_CONN_ID goes before the database, as a URI or a JSON object: the id
    in upper case, with _ for everything but letters and digits. Tasks see the environment of their
    worker.
    """
    from flow.ops import connections

    with opened(context) as deployment:
        found = connections.get(deployment, conn)
    print_record(Output(output), row_of(connections.record(found, reveal=reveal)))


@app.command(
    cls=Command,
    epilog=examples(
        "flow conns add warehouse --uri @warehouse.uri",
        "flow conns add warehouse --type postgres --host db.example --login etl --password @-",
    ),
)
def add(
    context: typer.Context,
    conn: ConnArgument,
    uri: Annotated[
        str | None,
        typer.Option("--uri", metavar="URI|@FILE", help="All of it, as a URI; @- is stdin."),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="JSON|@FILE", help="All of it, as a JSON object."),
    ] = None,
    conn_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="What it connects to.")
    ] = None,
    host: Annotated[str | None, typer.Option("--host", metavar="HOST", help="Its host.")] = None,
    port: Annotated[int | None, typer.Option("--port", metavar="N", help="Its port.")] = None,
    login: Annotated[str | None, typer.Option("--login", metavar="NAME", help="User name.")] = None,
    password: Annotated[
        str | None,
        typer.Option("--password", metavar="TEXT|@FILE", help="Others may see a TEXT in ps."),
    ] = None,
    schema: Annotated[
        str | None, typer.Option("--schema", metavar="NAME", help="Schema or database.")
    ] = None,
    extra: Annotated[
        str | None, typer.Option("--extra", metavar="JSON|@FILE", help="JSON object of the rest.")
    ] = None,
    description: Annotated[
        str | None, typer.Option("--description", metavar="TEXT", help="What it is for.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite a connection of this id.")
    ] = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Store a connection, given as a URI, as JSON, or by its fields."""
    from flow.ops import connections
    from flow_cli.texts import given

    fields: dict[str, Any] = {
        "conn_type": conn_type,
        "host": host,
        "port": port,
        "login": login,
        "password": None if password is None else given(password).rstrip("\n"),
        "schema": schema,
        "extra": given(extra),
    }
    named = {name: value for name, value in fields.items() if value is not None}
    if [uri is not None, json is not None, bool(named)].count(True) != 1:
        raise UsageError(
            "a connection is given in one way", "use --uri, or --json, or --type with its fields"
        )
    connection = _connection(conn, given(uri), given(json), named)
    if description is not None:
        connection.description = description
    with opened(context) as deployment:
        connections.add(deployment, connection, replace=replace)
    Output(output).lines(
        [f"{conn} is stored"], {"conn_id": conn, "conn_type": connection.conn_type}
    )


@app.command(cls=Command, epilog=examples("flow conns test warehouse"))
def test(context: typer.Context, conn: ConnArgument, output: OutputOption = Format.TEXT) -> None:
    """Try a connection from this machine; exit 1 when nobody answers.

    PostgreSQL is logged in to; to anything else a TCP connection is opened.
    """
    from flow.ops import connections, reach

    with opened(context) as deployment:
        found = connections.get(deployment, conn)
    reached = reach.reach(found.connection)
    text = reached.message if reached.ok else f"not reached: {reached.message}"
    Output(output).lines([text], {"conn_id": conn, **row_of(reached)})
    if not reached.ok:
        raise typer.Exit(exits.FAILED)


@app.command(cls=Command, epilog=examples("flow conns delete warehouse"))
def delete(
    context: typer.Context,
    conn: ConnArgument,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Delete a connection."""
    from flow.ops import connections

    printer = Output(output)
    delete_named(context, connections, "connection", conn, yes=yes, dry_run=dry_run)
    report_deleted(printer, conn, {"conn_id": conn}, dry_run=dry_run)


@app.command("import", cls=Command, epilog=examples("flow conns import connections.json"))
def import_(
    context: typer.Context,
    file: ImportArgument,
    existing: ExistingOption = None,
    output: OutputOption = Format.TEXT,
) -> None:
    """Store connections from a JSON object, all or none.

    Its keys are the connections' ids; a value is an object of fields, or a URI.
    """
    from flow.ops import connections
    from flow_cli.texts import read

    text = read(file)
    with opened(context) as deployment:
        done = connections.import_(deployment, text, policy_of(existing))
    report_imported(Output(output), done, "is stored")


@app.command(cls=Command, epilog=examples("flow conns export connections.json"))
def export(context: typer.Context, file: ExportArgument = "-") -> None:
    """Write all connections of the database as JSON, passwords and all."""
    from flow.ops import connections

    with opened(context) as deployment:
        text = connections.export(deployment)
    deliver(file, text)


def _connection(
    conn_id: str, uri: str | None, json: str | None, fields: dict[str, Any]
) -> Connection:
    from flow.authoring.connection import Connection

    if uri is not None:
        return Connection.from_uri(conn_id, uri)
    if json is not None:
        return Connection.from_json(conn_id, json)
    return Connection(conn_id=conn_id, **fields)
