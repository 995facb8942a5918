"""Options and arguments that many commands share, with the same names and words everywhere."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from flow_cli.output import Format

DEFAULT_LIMIT = 100

OutputOption = Annotated[
    Format,
    typer.Option(
        "-o",
        "--output",
        help="Form of the result: text for people, one JSON document, or one JSON object a line.",
    ),
]
LimitOption = Annotated[
    int, typer.Option("--limit", min=1, metavar="N", help="Print at most N rows.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Print every row.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only print what would be touched.")]

DagArgument = Annotated[str, typer.Argument(metavar="DAG", help="Id of the DAG.")]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="The run: latest, a run id, or a date.")
]
OneRunArgument = Annotated[
    str | None,
    typer.Argument(metavar="RUN", help="The run: latest, a run id, or a date. Or use --from."),
]
FromOption = Annotated[
    str | None, typer.Option("--from", metavar="DATE", help="Whose interval starts then or later.")
]
ToOption = Annotated[
    str | None, typer.Option("--to", metavar="DATE", help="Whose interval starts then or earlier.")
]
WhereOption = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only runs like this: state=failed and started_at>-2d, over the fields of "
        "`flow runs list -o json`.",
    ),
]
AnyDagArgument = Annotated[
    str | None, typer.Argument(metavar="DAG", help="Id of the DAG; by default all DAGs.")
]
DagsArgument = Annotated[
    str, typer.Argument(metavar="DAG", help="Id of the DAG, or a glob over ids: 'sales_*'.")
]
TaskArgument = Annotated[str, typer.Argument(metavar="TASK", help="The task: load, or group.load.")]
TryOption = Annotated[
    int | None,
    typer.Option("--try", min=1, metavar="N", help="Number of the try; by default the last one."),
]
ConfOption = Annotated[
    str | None,
    typer.Option("--conf", metavar="JSON|@FILE", help="JSON object that tasks can read."),
]
VariablesOption = Annotated[
    list[str] | None, typer.Option("--var", metavar="KEY=VALUE", help="A variable.")
]
ConnectionsOption = Annotated[
    list[str] | None,
    typer.Option("--conn", metavar="ID=URI", help="A connection, as a URI or as JSON."),
]


class RunVersion(StrEnum):
    """Which version a run has whose tasks run again."""

    LATEST = "latest"
    RUN = "run"


def row_limit(limit: int, every: bool) -> int | None:
    """How many rows to fetch: None is all of them."""
    return None if every else limit
