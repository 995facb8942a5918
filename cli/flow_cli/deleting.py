"""Deleting one thing by its name: asked before, told after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import typer

from flow_cli.confirm import confirm
from flow_cli.opening import opened
from flow_cli.output import Output

if TYPE_CHECKING:
    from flow.ops.deployment import Deployment


class Operations(Protocol):
    """What there is to do with the variables, or the connections, of a deployment."""

    def require(self, deployment: Deployment, name: str, /) -> None:
        """Raise `NotFound` unless it is there."""

    def delete(self, deployment: Deployment, name: str, /) -> None:
        """Delete it."""


def delete_named(
    context: typer.Context,
    operations: Operations,
    noun: str,
    name: str,
    *,
    yes: bool,
    dry_run: bool,
) -> None:
    """Delete what is there, once somebody has agreed."""
    with opened(context) as deployment:
        operations.require(deployment, name)
        if not dry_run:
            confirm(f"Delete {noun} {name}?", yes=yes)
            operations.delete(deployment, name)


def becomes(*, dry_run: bool) -> str:
    """What becomes of what is listed."""
    return "would be deleted" if dry_run else "deleted"


def report_deleted(printer: Output, name: str, row: Mapping[str, Any], *, dry_run: bool) -> None:
    """Print that it is deleted, or would be; `row` is what it was."""
    done = "would be deleted" if dry_run else "is deleted"
    printer.lines([f"{name} {done}"], {**row, "dry_run": dry_run})
