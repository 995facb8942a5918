"""`flow runs cancel|pause|resume|mark|delete`: one run, a range, or all that fit a condition."""

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
    OneRunArgument,
    OutputOption,
    ToOption,
    WhereOption,
    YesOption,
)
from flow_cli.output import Format, Output
from flow_cli.pages import Command, examples


class Verdict(StrEnum):
    """How an operator says that a run ended."""

    SUCCESS = "success"
    FAILED = "failed"


def cancel(
    context: typer.Context,
    dag: DagsArgument,
    run: OneRunArgument = None,
    start: FromOption = None,
    end: ToOption = None,
    where: WhereOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """End runs now, as failed and without any callback.

    What runs is stopped; tasks that have not ended are skipped. Of a range, runs that have ended
    are left alone.
    """
    from flow.ops import cancelling
    from flow.ops.run_ranges import Which
    from flow_cli.run_pages import CancelPage

    with opened(context) as deployment:
        carry_out(
            Output(output),
            partial(cancelling.cancel, deployment, dag),
            CancelPage(),
            Which(run, start, end, where),
            yes=yes,
            dry_run=dry_run,
        )


def pause(
    context: typer.Context,
    dag: DagsArgument,
    run: OneRunArgument = None,
    start: FromOption = None,
    end: ToOption = None,
    where: WhereOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Let nothing more of runs start. Tries that run go on to their end.

    Other runs of the DAG, and its schedule, are not concerned; a paused run that had started still
    counts against max_active_runs. `flow runs resume` lets it go on.
    """
    from flow.ops import holding
    from flow.ops.run_ranges import Which
    from flow_cli.run_pages import PausePage

    with opened(context) as deployment:
        carry_out(
            Output(output),
            partial(holding.pause, deployment, dag),
            PausePage("pause"),
            Which(run, start, end, where),
            yes=yes or run is not None,
            dry_run=dry_run,
        )


def resume(
    context: typer.Context,
    dag: DagsArgument,
    run: OneRunArgument = None,
    start: FromOption = None,
    end: ToOption = None,
    where: WhereOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Let paused runs go on."""
    from flow.ops import holding
    from flow.ops.run_ranges import Which
    from flow_cli.run_pages import PausePage

    with opened(context) as deployment:
        carry_out(
            Output(output),
            partial(holding.resume, deployment, dag),
            PausePage("resume"),
            Which(run, start, end, where),
            yes=yes or run is not None,
            dry_run=dry_run,
        )


def mark(
    context: typer.Context,
    dag: DagsArgument,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[RUN] success|failed",
            help="The run (latest, a run id, or a date), unless --from or --where names several; "
            "and how they ended.",
        ),
    ],
    start: FromOption = None,
    end: ToOption = None,
    where: WhereOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Say how runs ended, whatever they are doing, without any callback.

    As success: tasks that failed or have not ended are marked success too, skipped ones stay. As
    failed: what runs is stopped and marked failed, what has not begun is skipped.
    """
    from flow.ops import run_marks
    from flow.states import RunState
    from flow_cli.run_pages import MarkPage

    which, (verdict,) = named_runs(words, ("success|failed",), start, end, where)
    state = RunState(one_of(verdict, Verdict))
    with opened(context) as deployment:
        carry_out(
            Output(output),
            partial(run_marks.mark, deployment, dag, state=state),
            MarkPage(),
            which,
            yes=yes,
            dry_run=dry_run,
        )


def delete(
    context: typer.Context,
    dag: DagsArgument,
    run: OneRunArgument = None,
    start: FromOption = None,
    end: ToOption = None,
    where: WhereOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    output: OutputOption = Format.TEXT,
) -> None:
    """Delete runs that have ended, with their tasks, tries and XComs. Their logs stay.

    The schedule does not go back: none of them is made again, except the one of a DAG that runs
    once. An active run is refused; cancel it first.
    """
    from flow.ops import deleting
    from flow.ops.run_ranges import Which
    from flow_cli.run_pages import DeletePage

    with opened(context) as deployment:
        carry_out(
            Output(output),
            partial(deleting.delete, deployment, dag),
            DeletePage(),
            Which(run, start, end, where),
            yes=yes,
            dry_run=dry_run,
        )


_COMMANDS = (
    (cancel, ("flow runs cancel sales latest", "flow runs cancel sales --from 2026-10-01 --yes")),
    (pause, ("flow runs pause sales latest", "flow runs pause sales --where state=queued --yes")),
    (resume, ("flow runs resume sales latest", "flow runs resume sales --from -7d --yes")),
    (
        mark,
        (
            "flow runs mark sales latest success",
            "flow runs mark sales failed --where 'state=running and started_at<-1d' --dry-run",
        ),
    ),
    (
        delete,
        (
            "flow runs delete sales manual__2026-10-09T00:00:00+00:00",
            "flow runs delete 'sales*' --to -365d --where state=success --dry-run",
        ),
    ),
)


def add_to(app: typer.Typer) -> None:
    """Add these commands to `flow runs`."""
    for command, lines in _COMMANDS:
        app.command(cls=Command, epilog=examples(*lines))(command)
