"""What `import` and `export` of variables and connections have in common."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from flow_cli.output import Output
from flow_cli.records import row_of
from flow_cli.texts import STANDARD_INPUT, write_private

if TYPE_CHECKING:
    from flow.ops.exchange import Existing, Imported


class Policy(StrEnum):
    """What an import does with what exists."""

    FAIL = "fail"
    SKIP = "skip"
    OVERWRITE = "overwrite"


ImportArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="File with a JSON object; - is the standard input.")
]
ExportArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="New file, which only you can read; by default standard output."
    ),
]
ExistingOption = Annotated[
    Policy | None,
    typer.Option(
        "--existing", help="What to do with those that exist; by default nothing is imported."
    ),
]


def policy_of(chosen: Policy | None) -> Existing:
    """The policy as the operations know it."""
    from flow.ops.exchange import Existing

    return Existing((chosen or Policy.FAIL).value)


def report_imported(printer: Output, done: Imported, stored: str) -> None:
    """Print what was written, each name with what it is now, and what was left alone."""
    printer.lines([f"{name} {stored}" for name in done.written], row_of(done))
    if done.skipped:
        printer.message(f"left as they were: {', '.join(done.skipped)}")


def deliver(file: str, text: str) -> None:
    """Write an export to the standard output, or to a private file."""
    if file == STANDARD_INPUT:
        Output().raw(text, {})
    else:
        write_private(file, text)
        Output().message(f"wrote {file}; it holds secrets")
