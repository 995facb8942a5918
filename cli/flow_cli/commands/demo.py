"""`flow demo`: everything once, in a scratch folder."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flow_cli import exits
from flow_cli.invocation import invocation
from flow_cli.options import OutputOption
from flow_cli.output import Column, Format, Output
from flow_cli.pages import Command, examples, single

if TYPE_CHECKING:
    from flow.ops.demo import Night, Outcome
    from flow.roles.loop import Stop

PROJECT = Path(__file__).parent.parent / "demo_project"
COLUMNS = (
    Column("day"),
    Column("run"),
    Column("load_tries", "tries of load"),
    Column("orders", right=True),
    Column("revenue", right=True),
    Column("expected_revenue", "expected", right=True),
    Column("right"),
)

app = single()


@app.command(cls=Command, epilog=examples("flow demo", "flow demo --keep"))
def demo(
    context: typer.Context,
    output: OutputOption = Format.TEXT,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the folder, to look around in it afterwards.")
    ] = False,
) -> None:
    """Run a shop's nightly pipeline on a database of its own, and kill a worker.

    Three nights are made up for at once; the grid fills as they go. At the end the totals in the
    warehouse are compared with what they must be. It takes some seconds and leaves nothing behind;
    your own deployment is not touched.
    """
    from flow.ops.demo import Stopped, play
    from flow_cli.demo_screen import screen

    printer = Output(output)
    stop = _stop_on_signals()
    binaries = invocation(context).config.settings.database.binaries
    try:
        with screen(printer) as audience:
            outcome = play(PROJECT, audience, stop, binaries=binaries, keep=keep)
    except Stopped:
        printer.message("The demo was stopped; nothing of it runs any more.")
        raise typer.Exit(exits.INTERRUPTED) from None
    _print(printer, outcome)
    if outcome.problems:
        raise typer.Exit(exits.FAILED)


def _stop_on_signals() -> Stop:
    """Ctrl-C, SIGTERM and a closed terminal end the demo in order."""
    from flow.roles.loop import Stop

    stop = Stop().install()
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: stop.ask())
    return stop


def _print(printer: Output, outcome: Outcome) -> None:
    printer.table([_row(night) for night in outcome.nights], COLUMNS, "nights")
    for dag_id, state in outcome.others.items():
        printer.message(f"{dag_id}: {state}")
    for problem in outcome.problems:
        printer.warning(problem)
    if not outcome.problems:
        printer.message(
            f"All is right after {outcome.seconds:.1f} s: the killed load was lost, its second try"
            " replaced the day, and every total is what it must be."
        )
    if outcome.folder is None:
        printer.message("Nothing of it runs any more, and its folder is removed.")
    else:
        command = f"flow --config {outcome.folder}/flow.toml"
        printer.message(
            f"Nothing of it runs any more. Its folder is {outcome.folder}; go on with\n"
            f"  {command} up"
        )


def _row(night: Night) -> dict[str, object]:
    loaded, expected = night.loaded, night.expected
    return {
        "day": night.day,
        "run": night.run_state,
        "load_tries": [one.state for one in night.load_tries],
        "worker_killed": night.killed,
        "orders": loaded.orders if loaded else 0,
        "revenue": _money(loaded.revenue_cents if loaded else 0),
        "expected_orders": expected.orders,
        "expected_revenue": _money(expected.revenue_cents),
        "right": night.loaded == night.reported == expected,
    }


def _money(cents: int) -> str:
    return f"{cents / 100:.2f}"
