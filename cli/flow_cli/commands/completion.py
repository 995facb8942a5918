"""`flow completion`: the script that makes a shell complete `flow`."""

from __future__ import annotations

from typing import Annotated

import typer

from flow_cli.pages import Command, examples, single
from flow_cli.shells import Shell

app = single()


@app.command(
    cls=Command,
    epilog=examples(
        "flow completion bash > ~/.local/share/bash-completion/completions/flow",
        "flow completion fish > ~/.config/fish/completions/flow.fish",
    ),
)
def completion(
    shell: Annotated[
        Shell, typer.Argument(metavar="SHELL", help="The shell that will read the script.")
    ],
) -> None:
    """Print the completion script of a shell.

    The installed package brings the same scripts along, where shells look for them.

    Commands, options and choices are in the script. The ids of DAGs, runs and tasks and the names
    of pools come from files in ~/.cache/flow/names, which completing itself, or a verb on a
    terminal, refreshes in the background: what is not known yet is offered the next time.
    """
    from flow_cli.application import root
    from flow_cli.tree import pages

    print(shell.script(pages(root())), end="")  # noqa: T201
