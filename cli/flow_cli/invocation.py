"""What the global options of one `flow` command line said, and the settings that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import typer

from flow_cli.arguments import DeploymentChoice

if TYPE_CHECKING:
    from flow.config import Config


@dataclass
class Invocation:
    """The deployment that was chosen. Its settings are read when a command first asks for them."""

    chosen: DeploymentChoice

    @cached_property
    def config(self) -> Config:
        """The settings of this command line. Raises `ConfigError`."""
        from flow.config import load

        return load(self.chosen.config_file, self.chosen.name)


def invocation(context: typer.Context) -> Invocation:
    """The invocation to which a command belongs."""
    found = context.find_root().obj
    if not isinstance(found, Invocation):
        raise TypeError("the root command did not leave an Invocation in its context")
    return found
