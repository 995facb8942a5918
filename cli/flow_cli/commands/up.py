"""`flow up`: everything on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flow_cli.invocation import invocation
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single
from flow_cli.slots import SlotsOption, read_slots

app = single()


@app.command(cls=Command, epilog=examples("flow up", "flow up --workers 2 --slots 4 --detach"))
def up(
    context: typer.Context,
    dags: Annotated[
        Path | None, typer.Option("--dags", metavar="DIR", help="Folder of DAG files.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, metavar="N", help="Workers.")] = 1,
    schedulers: Annotated[
        int, typer.Option("--schedulers", min=1, metavar="N", help="Schedulers.")
    ] = 1,
    slots: SlotsOption = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Return once everything runs; logs go to a file.")
    ] = False,
) -> None:
    """Run everything on this machine: database, parser, schedulers, workers.

    Without database.url an embedded PostgreSQL is made and started. A role that dies is started
    again. Ctrl-C ends the roles: tries that run may end first, unless a second Ctrl-C ends them at
    once. The embedded database stays for the verbs; flow down ends that too.
    """
    from flow.ops import machine
    from flow.ops.deployment import is_up
    from flow.roles.up import members, supervise
    from flow.store import locate, migrate
    from flow_cli.roles import prepare

    if slots is not None:
        read_slots(slots)  # the workers read it again: what is wrong is said here and now
    asked = invocation(context)
    settings = asked.config.settings
    folders = (dags.resolve(),) if dags is not None else settings.dags.folders
    printer = Output(Format.TEXT)
    for folder in folders:
        _prepare(folder, printer)
    # Before anything is a subreaper: the server belongs to nobody and outlives everybody.
    dsn = locate.direct_dsn(settings)
    migrate.migrate(dsn)
    if detach:
        arguments = ["--workers", str(workers), "--schedulers", str(schedulers)]
        arguments += [] if dags is None else ["--dags", str(dags.resolve())]
        arguments += [] if slots is None else ["--slots", slots]
        log = settings.logs.root / "flow-up.log"
        command = [*asked.chosen.words, "up", *arguments]
        machine.start_detached(command, log, settings.home, dsn)
        printer.message(f"Flow is up; its log is {log}. `flow down` stops it.")
        return
    team = members(
        schedulers=schedulers,
        workers=workers,
        parse=[part for folder in folders for part in ("--dags", str(folder))],
        work=[] if slots is None else ["--slots", slots],
    )
    with machine.UpLock(settings.home):
        supervise(team, prepare("up"), asked.chosen.words)
    if not settings.database.url and is_up(settings):
        printer.message("the embedded database still runs; `flow down` stops it")


def _prepare(folder: Path, printer: Output) -> None:
    """Make a folder of DAG files if it is not there, and say which it is."""
    if folder.is_dir():
        printer.message(f"DAG files: {folder}")
        return
    folder.mkdir(parents=True, exist_ok=True)
    printer.message(f"DAG files: {folder}, which was made just now; put some there")
