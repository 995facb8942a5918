"""`flow config`: the settings that hold here, and where each value comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from flow.errors import NotFound
from flow.wording.cells import written
from flow_cli.invocation import invocation
from flow_cli.options import OutputOption
from flow_cli.output import Column, Format, Output, Row
from flow_cli.pages import Command, examples, group

if TYPE_CHECKING:
    from flow.config import Config

app = group(
    "Show settings and where each value comes from.",
    "flow config show",
    "flow config get worker.slots",
)

RevealOption = Annotated[
    bool, typer.Option("--reveal", help="Print passwords instead of hiding them.")
]
COLUMNS = (Column("key"), Column("value"), Column("origin", "from"))


@app.command(
    cls=Command,
    epilog=examples("flow config show", "flow --deployment test config show -o json"),
)
def show(
    context: typer.Context, output: OutputOption = Format.TEXT, reveal: RevealOption = False
) -> None:
    """Show every setting, its value and where the value comes from.

    A value comes from flow.toml, from an environment variable, or is the default.
    """
    from flow.settings import TABLE

    config = invocation(context).config
    rows = [_row(config, key, reveal) for key in TABLE]
    Output(output).table(rows, COLUMNS, "settings")


@app.command(
    cls=Command,
    epilog=examples("flow config get worker.slots", "flow config get database.url --reveal"),
)
def get(
    context: typer.Context,
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="Key of the setting, such as worker.slots.")
    ],
    output: OutputOption = Format.TEXT,
    reveal: RevealOption = False,
) -> None:
    """Print the value of one setting; nothing when it has none."""
    from flow.config import nearest
    from flow.settings import TABLE

    if key not in TABLE:
        meant = nearest(key, TABLE)
        hint = f"Did you mean {meant}?" if meant else "flow config show lists every setting."
        raise NotFound(f"there is no setting {key}", hint)
    row = _row(invocation(context).config, key, reveal)
    Output(output).lines([written(row["value"])], row)


def _row(config: Config, key: str, reveal: bool) -> Row:
    from flow.settings import TABLE

    value = config.value(key)
    if TABLE[key].secret and not reveal:
        value = _hidden(value)
    return {"key": key, "value": value, "origin": config.origins[key]}


def _hidden(value: object) -> object:
    """A secret without what is secret in it: the password of a URL, all values of a table."""
    if isinstance(value, Mapping):
        return dict.fromkeys(value, "***")
    return _without_password(value) if isinstance(value, str) else value


def _without_password(url: str) -> str:
    import re

    # libpq takes a password before the host and as a parameter.
    hidden = re.sub(r"(?<=://)([^/?#@]*?):[^/?#]*@", r"\1:***@", url)
    return re.sub(r"(?i)([?&](?:ssl)?password=)[^&]*", r"\1***", hidden)
