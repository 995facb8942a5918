"""`flow tasks mark|hold|release`: tasks of one run, of a range, or of all that fit a condition."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from flow_cli.bulk import carry_out
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

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORDS_HELP = (
    "The run (latest, a run id, or a date), unless --from or --where names several; and tasks: "
    "load, load[3], +load, load+, 'extract_*', with commas"
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
    from flow.ops.run_ranges import Which
    from flow.states import TaskState
    from flow_cli.task_pages import MarkPage
    from flow_cli.words import one_of, run_and_rest

    run, (selection, verdict) = run_and_rest(
        words, ("TASK", "success|failed|skipped"), in_range=_in_range(start, end, where)
    )
    state = TaskState(one_of(verdict, Verdict))
    with opened(context) as deployment:
        carry_out(
            Output(output),
            lambda which, only, *, dry_run: marks.mark(
                deployment, dag, which, selection, state, only, dry_run=dry_run
            ),
            MarkPage(),
            Which(run, start, end, where),
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
    from flow.ops.run_ranges import Which
    from flow_cli.task_pages import HoldPage

    run, (selection,) = _run_and_task(words, start, end, where)
    with opened(context) as deployment:
        carry_out(
            Output(output),
            lambda which, only, *, dry_run: holding.hold(
                deployment, dag, which, selection, only, dry_run=dry_run
            ),
            HoldPage("hold"),
            Which(run, start, end, where),
            yes=yes or run is not None,
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
    from flow.ops.run_ranges import Which
    from flow_cli.task_pages import HoldPage

    run, (selection,) = _run_and_task(words, start, end, where)
    with opened(context) as deployment:
        carry_out(
            Output(output),
            lambda which, only, *, dry_run: holding.release(
                deployment, dag, which, selection, only, dry_run=dry_run
            ),
            HoldPage("release"),
            Which(run, start, end, where),
            yes=yes or run is not None,
            dry_run=dry_run,
        )


def _run_and_task(
    words: Sequence[str], start: str | None, end: str | None, where: str | None
) -> tuple[str | None, Sequence[str]]:
    from flow_cli.words import run_and_rest

    return run_and_rest(words, ("TASK",), in_range=_in_range(start, end, where))


def _in_range(*choices: str | None) -> bool:
    return any(one is not None for one in choices)


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
