"""The `flow` command as a whole: global options, lazy commands, one place for errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, cast

import typer
from typer.main import get_command

from flow_cli import exits
from flow_cli.arguments import DeploymentChoice, globals_first, wants_debug, wants_json
from flow_cli.catalogue import ENTRIES
from flow_cli.failures import failure_of, report
from flow_cli.invocation import Invocation
from flow_cli.lazy import LazyGroup
from flow_cli.pages import examples

PROGRAM = "flow"

app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    epilog=examples("flow init sales", "flow config show -o json"),
)


def _print_version(asked: bool) -> None:
    if asked:
        from flow.version import VERSION

        print(f"{PROGRAM} {VERSION}")  # noqa: T201
        raise typer.Exit(exits.DONE)


@app.callback()
def flow(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Settings file, instead of the nearest flow.toml. Also: FLOW_CONFIG.",
        ),
    ] = None,
    deployment: Annotated[
        str | None,
        typer.Option(
            "--deployment",
            metavar="NAME",
            help="Table [deployment.NAME] of the settings file to use. Also: FLOW_DEPLOYMENT.",
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Schedule and run data pipelines written as Python graphs."""
    context.obj = Invocation(DeploymentChoice(config, deployment))


def root() -> LazyGroup:
    """The whole command tree."""
    command = cast(LazyGroup, get_command(app))
    command.name = PROGRAM
    command.fill(ENTRIES)
    return command


def main(arguments: list[str]) -> int:
    """Run a command line and return its exit code. Prints errors, raises none."""
    _make_streams_safe()
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return exits.READER_GONE
    except Exception as error:
        return _fail(error, arguments)


def _invoke(arguments: list[str]) -> int:
    """Parse and run. Typer's own `main` would print errors itself and hide a broken pipe."""
    command = root()
    try:
        with command.make_context(PROGRAM, globals_first(arguments)) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return exits.DONE


def _fail(error: Exception, arguments: list[str]) -> int:
    if wants_debug(arguments):
        import traceback

        traceback.print_exception(error)
    failure = failure_of(error)
    try:
        report(failure, as_json=wants_json(arguments))
    except BrokenPipeError:
        _drop_output()
    return failure.exit_code


def _make_streams_safe() -> None:
    """Let ids that the terminal's encoding lacks be shown escaped instead of ending the command.

    A stream that was closed by whoever started the command becomes one that leads nowhere.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        getattr(sys, name).reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Point the streams at nothing, or the interpreter would complain when it flushes them."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nothing, stream.fileno())
