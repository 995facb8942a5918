"""The option `--slots` of `flow work` and `flow up`: a number, or a range."""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple

import typer

from flow.errors import UsageError
from flow_cli.convert import LARGEST

SlotsOption = Annotated[
    str | None,
    typer.Option(
        "--slots",
        metavar="N|MIN..MAX",
        help="Tries at once of a worker; of a range as many as the host can spare. 0 claims "
        "nothing.",
    ),
]
_RANGE = re.compile(r"([0-9]+)(?:\.\.([0-9]+))?")


class Slots(NamedTuple):
    """How many slots a worker has at least, and at most."""

    least: int
    most: int


def read_slots(text: str) -> Slots:
    """Read what was given. Raises `UsageError`."""
    match = _RANGE.fullmatch(text)
    numbers = [int(part) for part in match.groups() if part is not None] if match else []
    if not numbers or numbers[0] > numbers[-1] or numbers[-1] > LARGEST:
        raise UsageError(
            f"--slots {text} is no number of slots",
            "write --slots 8, or --slots 4..16 for at least 4, and up to 16 while the host has "
            "CPU and memory to spare",
        )
    return Slots(numbers[0], numbers[-1])
