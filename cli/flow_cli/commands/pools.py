"""`flow pools`: limits that tasks of all DAGs share."""

from __future__ import annotations

from typing import Annotated

import typer

from flow_cli.deleting import report_deleted
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

app = group(
    "List, show, set and delete pools, the limits that tasks of all DAGs share.",
    "flow pools list",
    "flow pools set warehouse 4",
)

COLUMNS = (
    Column("name"),
    Column("slots", right=True),
    Column("running", right=True),
    Column("queued", right=True),
    Column("scheduled", right=True),
    Column("deferred", right=True),
    Column("open", right=True),
    Column("description", spare=True),
)
PoolArgument = Annotated[str, typer.Argument(metavar="POOL", help="Name of the pool.")]


@app.command("list", cls=Command, epilog=examples("flow pools list", "flow pools list -o json"))
def list_(
    context: typer.Context,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """List pools and what occupies them, in slots. A pool of -1 slots has no limit."""
    from flow.ops import pools

    with opened(context) as deployment:
        page = pools.page(deployment, row_limit(limit, every))
    print_page(Output(output), page, [row_of(pool) for pool in page.rows], COLUMNS, "pools")


@app.command(cls=Command, epilog=examples("flow pools show warehouse"))
def show(
    context: typer.Context,
    pool: PoolArgument,
    limit: LimitOption = DEFAULT_LIMIT,
    every: AllOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Show one pool: who holds its slots, who waits for them, and why."""
    from flow.ops import pools
    from flow_cli.pool_page import describe

    with opened(context) as deployment:
        found = pools.show(deployment, pool, row_limit(limit, every))
    Output(output).lines(*describe(found))


@app.command(
    "set",
    cls=Command,
    epilog=examples("flow pools set warehouse 4", "flow pools set default_pool -- -1"),
)
def set_(
    context: typer.Context,
    pool: PoolArgument,
    slots: Annotated[
        int, typer.Argument(metavar="SLOTS", help="How many slots; -1, after --, has no limit.")
    ],
    include_deferred: Annotated[
        bool | None,
        typer.Option(
            "--include-deferred/--exclude-deferred", help="Whether deferred tasks keep their slots."
        ),
    ] = None,
    description: Annotated[
        str | None, typer.Option("--description", metavar="TEXT", help="What the pool is for.")
    ] = None,
    output: OutputOption = Format.TEXT,
) -> None:
    """Make a pool, or change it. A pool that shrinks below its use empties by itself."""
    from flow.ops import pools

    with opened(context) as deployment:
        found = pools.set_(deployment, pool, slots, include_deferred, description)
    print_record(Output(output), row_of(found))


@app.command(cls=Command, epilog=examples("flow pools delete warehouse"))
def delete(
    context: typer.Context,
    pool: PoolArgument,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Delete a pool that no unfinished task is in. Tasks that still name it wait for it then."""
    from flow.ops import pools
    from flow_cli.confirm import confirm

    printer = Output(output)
    with opened(context) as deployment:
        found = pools.delete(deployment, pool, dry_run=True)
        if not dry_run:
            confirm(f"Delete pool {pool} with {found.slots} slots?", yes=yes)
            found = pools.delete(deployment, pool)
    report_deleted(printer, pool, {"name": found.name, "slots": found.slots}, dry_run=dry_run)
