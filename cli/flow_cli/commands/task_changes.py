"""`flow tasks mark|hold|release`: tasks of one run, of a range, or of all that fit a condition."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from flow_cli.bulk import carry_out, named_runs, one_of
from flow_cli.opening import opened
from flow_cli.options import (
    DagsArgument,
    DryRunOption,
    FromOption,
    OutputOption,
    ToOption,
    WhereOption,
    YesOption,
)
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples

_WORDS_HELP = (
    "The run (latest, a run id, or a date), unless --from or --where names several; and tasks: "
    "load, group.load, +load, load+, 'extract_*', with commas"
)
TaskWords = Annotated[list[str], typer.Argument(metavar="[RUN] TASK", help=f"{_WORDS_HELP}.")]


class Verdict(StrEnum):
    """How an operator says that a task ended."""

    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"


def mark(
    context: typer.Context,
    dag: DagsArgument,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[RUN] TASK success|failed|skipped", help=f"{_WORDS_HELP}; and how they ended."
        ),
    ],
    start: FromOption = None,
    end: ToOption = None,
    where: WhereOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Say how tasks ended, whatever they are doing.

    A running task is stopped. A run that has ended is judged anew.
    """
    from flow.ops import marks
    from flow.states import TaskState
    from flow_cli.task_pages import MarkPage

    which, (selection, verdict) = named_runs(
        words, ("TASK", "success|failed|skipped"), start, end, where
    )
    state = TaskState(one_of(verdict, Verdict))
    with opened(context) as deployment:
        carry_out(
            Output(output),
            partial(marks.mark, deployment, dag, selection=selection, state=state),
            MarkPage(),
            which,
            yes=yes,
            dry_run=dry_run,
        )


def hold(
    context: typer.Context,
    dag: DagsArgument,
    words: TaskWords,
    start: FromOption = None,
    end: ToOption = None,
    where: WhereOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Keep tasks of unfinished runs from starting until they are released.

    A try that runs goes on; then its next one is kept. The rest of the run goes on as far as it
    does not need them.
    """
    from flow.ops import holding
    from flow_cli.task_pages import HoldPage

    which, (selection,) = named_runs(words, ("TASK",), start, end, where)
    with opened(context) as deployment:
        carry_out(
            Output(output),
            partial(holding.hold, deployment, dag, selection=selection),
            HoldPage("hold"),
            which,
            yes=yes or which.reference is not None,
            dry_run=dry_run,
        )


def release(
    context: typer.Context,
    dag: DagsArgument,
    words: TaskWords,
    start: FromOption = None,
    end: ToOption = None,
    where: WhereOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Let held tasks start."""
    from flow.ops import holding
    from flow_cli.task_pages import HoldPage

    which, (selection,) = named_runs(words, ("TASK",), start, end, where)
    with opened(context) as deployment:
        carry_out(
            Output(output),
            partial(holding.release, deployment, dag, selection=selection),
            HoldPage("release"),
            which,
            yes=yes or which.reference is not None,
            dry_run=dry_run,
        )


_COMMANDS = (
    (
        mark,
        (
            "flow tasks mark sales latest load success",
            "flow tasks mark sales 2026-10-09 'extract_*,load+' skipped --yes",
            "flow tasks mark sales load success --from 2026-10-01 --to 2026-10-07",
        ),
    ),
    (
        hold,
        (
            "flow tasks hold sales latest load",
            "flow tasks hold 'sales*' load --where state=running --yes",
        ),
    ),
    (
        release,
        ("flow tasks release sales latest load", "flow tasks release sales load --from -7d --yes"),
    ),
)


def add_to(app: typer.Typer) -> None:
    """Add these commands to `flow tasks`."""
    for command, lines in _COMMANDS:
        app.command(cls=Command, epilog=examples(*lines))(command)
