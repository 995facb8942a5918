"""Values of the command line, converted without pydantic."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.core import TyperGroup
from typer.main import get_command

from flow_cli.application import root
from flow_cli.convert import Converter
from flow_cli.pages import Command, single
from flow_cli.tree import pages


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


def parsed(*arguments: str) -> dict[str, object]:
    app = single()

    @app.command(cls=Command)
    def paint(
        names: list[str],
        count: Annotated[int, typer.Option(min=1, max=9)] = 1,
        share: float = 0.5,
        colour: Colour = Colour.RED,
        file: Path | None = None,
        loud: bool | None = None,
        tags: Annotated[list[Colour] | None, typer.Option("--tag")] = None,
    ) -> None: ...

    return get_command(app).make_context("paint", list(arguments)).params


def test_values_have_their_types():
    assert parsed(
        "a", "b", "--count", "3", "--share", "0.25", "--colour", "blue", "--file", "x", "--loud",
        "--tag", "red", "--tag", "blue",
    ) == {
        "names": ["a", "b"],
        "count": 3,
        "share": 0.25,
        "colour": Colour.BLUE,
        "file": Path("x"),
        "loud": True,
        "tags": [Colour.RED, Colour.BLUE],
    }  # fmt: skip


def test_defaults_are_kept():
    found = parsed("a")
    assert (found["count"], found["colour"], found["file"], found["loud"]) == (
        1, Colour.RED, None, None
    )  # fmt: skip
    assert not found["tags"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--count", "x"], "Invalid value for '--count': 'x' is not a number"),
        (["--count", "0"], "Invalid value for '--count': 0 is less than 1"),
        (["--count", "10"], "Invalid value for '--count': 10 is more than 9"),
        (["--share", "nan"], "Invalid value for '--share': 'nan' is not a number"),
        (["--share", "inf"], "Invalid value for '--share': 'inf' is not a number"),
        (["--colour", "green"], "Invalid value for '--colour': 'green' is none of: red, blue"),
        (["--tag", "green"], "Invalid value for '--tag': 'green' is none of: red, blue"),
    ],
)
def test_what_is_wrong_is_said(arguments, message):
    with pytest.raises(typer.BadParameter) as caught:
        parsed("a", *arguments)
    assert caught.value.format_message() == message


def test_every_parameter_of_flow_is_converted_here():
    def check(command, context):
        for param in command.get_params(context):
            assert isinstance(param._runtime_param, Converter), (command.name, param.name)
        for child in command.commands.values() if isinstance(command, TyperGroup) else ():
            check(child, typer.Context(child, parent=context))

    top = root()
    assert len(pages(top)) > 1
    check(top, typer.Context(top))
