"""`flow tui`: the terminal UI."""

from __future__ import annotations

from typing import Annotated

import typer

from flow_cli.invocation import invocation
from flow_cli.pages import Command, examples, single

app = single()


@app.command(
    cls=Command, epilog=examples("flow tui", "flow tui sales latest load", "flow tui --read-only")
)
def tui(
    context: typer.Context,
    dag: Annotated[
        str | None, typer.Argument(metavar="[DAG]", help="Open this DAG's grid.")
    ] = None,
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="Open this run: latest, a run id, or a date."),
    ] = None,
    task: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="Open this task of the run.")
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only look: no key changes anything.")
    ] = False,
) -> None:
    """See what runs and what failed, and repair it, in the terminal.

    `?` shows the keys. Every action shows the flow command that does the same.
    """
    from flow_tui.start import start

    words = [word for word in (dag, run, task) if word is not None]
    code = start(invocation(context).config.settings, words, read_only=read_only)
    if code:
        raise typer.Exit(code)
