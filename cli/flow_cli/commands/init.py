"""`flow init`: a project folder to start from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from flow.errors import Conflict
from flow_cli.options import OutputOption
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples, single

PROJECT = Path(__file__).parent.parent / "project"
FILES = (
    Path("flow.toml"),
    Path("dags", "daily_sales.py"),
    Path("tests", "test_daily_sales.py"),
)

app = single()


@app.command(cls=Command, epilog=examples("flow init", "flow init sales"))
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder; it is made when it is missing.")
    ] = Path(),
    output: OutputOption = Format.TEXT,
) -> None:
    """Make a project folder: flow.toml, dags/ with an example, tests/.

    Existing files are left alone: when one of them is in the way, nothing is written.
    """
    in_the_way = [str(folder / file) for file in FILES if os.path.lexists(folder / file)]
    if in_the_way:
        raise Conflict(
            f"already there: {', '.join(in_the_way)}",
            "Name another folder, or move what is there out of the way. Nothing was written.",
        )
    for file in FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        with (folder / file).open("xb") as made_now:  # through no link that has come meanwhile
            made_now.write((PROJECT / file).read_bytes())
    printer = Output(output)
    made = [str(folder / file) for file in FILES]
    printer.lines(made, {"folder": str(folder), "files": made})
    printer.message(f"Next: {_step_into(folder)}flow test {FILES[1]}")
    printer.message(f"Then: {_step_into(folder)}flow up")


def _step_into(folder: Path) -> str:
    return "" if folder == Path() else f"cd {folder} && "
