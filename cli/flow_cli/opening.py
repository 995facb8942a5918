"""Opening the deployment that a command line is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from flow_cli.invocation import invocation

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment


@contextmanager
def opened(context: typer.Context) -> Iterator[Deployment]:
    """The deployment, connected. Raises `DatabaseError` when it cannot be reached."""
    # The database driver is loaded by commands that need it, not by their help pages.
    from flow.ops.deployment import open_deployment

    with open_deployment(invocation(context).config.settings) as deployment:
        yield deployment
