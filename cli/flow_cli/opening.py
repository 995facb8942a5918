"""Opening the deployment that a command line is about."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from flow_cli.invocation import invocation
from flow_cli.name_cache import cache_of
from flow_cli.name_refresh import refresh_soon
from flow_cli.output import Format, Output

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment


@contextmanager
def opened(context: typer.Context) -> Iterator[Deployment]:
    """The deployment, connected. Raises `DatabaseError` when it cannot be reached."""
    # The database driver is loaded by commands that need it, not by their help pages.
    from flow.ops.deployment import open_deployment

    called = invocation(context)
    with open_deployment(called.config.settings, on_start=_tell) as deployment:
        yield deployment
    if sys.stdout.isatty():  # scripts complete nothing
        refresh_soon(cache_of(called.config.settings), called.chosen, _named(context))


def _tell() -> None:
    Output(Format.TEXT).message("the embedded database was down; it runs now, until `flow down`")


def _named(context: typer.Context) -> list[str]:
    """The DAG that a command line has named, of which more may be said next."""
    dag = context.params.get("dag")
    return [dag] if isinstance(dag, str) else []
