"""`flow down`: the end of everything on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

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

    settings = invocation(context).config.settings
    printer = Output(output)
    if not now and machine.up_pid(settings.home) is not None:
        printer.message("tries that run may end first; `flow down --now` ends them")
    stopped = machine.stop(settings, at_once=now, timeout=timeout)
    said = ["flow up stopped" if stopped.up else "flow up was not running here"]
    if stopped.database:
        said.append("the embedded database stopped")
    printer.lines(said, {"stopped": stopped.up, "database_stopped": stopped.database})
