"""`flow down`: the end of everything on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from flow.errors import FlowError
from flow_cli.invocation import invocation
from flow_cli.options import OutputOption
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single

app = single()


@app.command(cls=Command, epilog=examples("flow down", "flow down --now"))
def down(
    context: typer.Context,
    output: OutputOption = Format.TEXT,
    now: Annotated[
        bool, typer.Option("--now", help="End running tries instead of waiting for them.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", min=0, metavar="S", help="Give up waiting after S seconds."),
    ] = None,
) -> None:
    """Stop what flow up started: parser, schedulers, workers, and the embedded database.

    Workers drain: tries that run may end. Running it when nothing runs is fine.
    """
    from flow.ops import machine
    from flow.store import locate

    settings = invocation(context).config.settings
    printer = Output(output)
    if not now and machine.up_pid(settings.home) is not None:
        printer.message("tries that run may end first; `flow down --now` ends them")
    stopped = machine.stop_up(settings.home, at_once=now, timeout=timeout)
    if stopped is False:
        raise FlowError("flow up still waits for running tries", "wait, or run `flow down --now`")
    database = False
    if settings.database.url is None:
        server = locate.embedded(settings)
        database = server.running()
        server.stop()
    record = {"stopped": stopped is True, "database_stopped": database}
    said = ["flow up stopped" if stopped else "flow up was not running here"]
    if database:
        said.append("the embedded database stopped")
    printer.lines(said, record)
