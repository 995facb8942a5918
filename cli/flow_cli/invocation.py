"""What the global options of one `flow` command line said, and the settings that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from flow_cli.arguments import Deployment

if TYPE_CHECKING:
    from flow.config import Config


@dataclass
class Invocation:
    """The global options. Settings are read when a command first asks for them."""

    config_file: Path | None = None
    deployment: str | None = None

    @cached_property
    def config(self) -> Config:
        """The settings of this command line. Raises `ConfigError`."""
        from flow.config import load

        return load(self.config_file, self.deployment)

    @property
    def chosen(self) -> Deployment:
        """The same for another command line."""
        return Deployment(self.config_file, self.deployment)


def invocation(context: typer.Context) -> Invocation:
    """The invocation to which a command belongs."""
    found = context.find_root().obj
    if not isinstance(found, Invocation):
        raise TypeError("the root command did not leave an Invocation in its context")
    return found
