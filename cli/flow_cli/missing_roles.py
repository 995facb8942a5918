"""Telling somebody who is about to wait that nobody is there who would do what is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow.wording.missing_roles import warnings
from flow_cli.output import Output

if TYPE_CHECKING:
    from flow.ops.missing_roles import MissingRoles


def warn(printer: Output, missing: MissingRoles) -> None:
    """Print a warning for each role that is missing."""
    for warning in warnings(missing):
        printer.warning(warning)
