"""One backfill: a cell for each interval, its rate, what is left, and what failed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from flow.ops import backfills
from flow.ops.backfills import Details
from flow.store.read.backfills import Interval
from flow.wording.backfill_progress import Speed, cells, in_words, look_of
from flow.wording.backfills import pace
from flow.wording.cells import counted, printable, text_of
from flow.wording.moments import took
from flow_tui import targets
from flow_tui.looking import opened
from flow_tui.looks import style_of
from flow_tui.screens import backfill_cells
from flow_tui.sentences import joined
from flow_tui.targets import Kind, Target
from flow_tui.view import View
from flow_tui.widgets.table import Cell, Column, Piece, Table

_FIRST: Final = {"failed": 0, "running": 1, "queued": 2}
"""What stands above the rest."""


class BackfillScreen(View):
    """Failed and running intervals stand first; enter opens the run of one."""

    DEFAULT_CSS = """
    BackfillScreen #backfill { height: auto; padding: 0 1 1 1; }
    """
    KINDS = frozenset({Kind.BACKFILL})
    IN_VIEW = "backfills"

    def __init__(self, number: str) -> None:
        super().__init__()
        self._number = number
        self._details: Details | None = None

    def content(self) -> ComposeResult:
        yield Static(id="backfill")
        yield Table(
            (
                Column("", _mark, widest=1, ordered=False),
                Column("interval", lambda one: text_of(one.data_interval_start)),
                Column("state", lambda one: Piece(one.state, _style(one.state))),
                Column("run", lambda one: one.run_id or "", rank=2, widest=60),
                Column("", _told, rank=1, widest=60, ordered=False, prose=True, enough=24),
            ),
            lambda one: one.data_interval_start,
            empty="reading …",
        )

    def on_mount(self) -> None:
        self.query_one(Table).focus()

    async def load(self) -> None:
        found = await self.read(lambda deployment: backfills.show(deployment, int(self._number)))
        self._details = found
        self._draw()
        rows = sorted(found.intervals, key=lambda one: _FIRST.get(one.state, len(_FIRST)))
        self.query_one(Table).show(rows)

    def on_resize(self) -> None:
        self._draw()

    def targets(self) -> Sequence[Target]:
        details = self._details
        if details is None:
            return ()
        return [Target(Kind.BACKFILL, (self._number,), details.backfill.state)]

    def do_app_open(self) -> None:
        """Open the run of an interval."""
        interval: Interval | None = self.query_one(Table).current
        if self._details is None or interval is None:
            return
        if interval.run_id is None:
            self.notify("this interval has no run yet: its turn has not come", timeout=4)
            return
        self.flow.open(targets.run(self._details.backfill.dag_id, interval.run_id, interval.state))

    @property
    def path(self) -> tuple[str, ...]:
        name = self._details.backfill.dag_id if self._details else ""
        return ("Backfills", f"{self._number} {name}".strip())

    @property
    def command(self) -> str:
        return opened(Target(Kind.BACKFILL, (self._number,)))

    def _draw(self) -> None:
        if self._details is not None:
            found = self._heading(self._details, max(10, self.size.width - 2))
            self.query_one("#backfill", Static).update(found)

    def _heading(self, details: Details, width: int) -> Text:
        backfill = details.backfill
        left_alone = sum(one.action == "skip" for one in details.intervals)
        heading = Text()
        heading.append(*backfill_cells.state(backfill))
        heading.append(f"  {self._progress(details)}\n")
        asked = joined(
            pace(backfill),
            f"tasks {', '.join(backfill.tasks)}" if backfill.tasks else None,
            counted(left_alone, "interval") + " left alone" if left_alone else None,
            f"by {printable(backfill.created_by)}",
        )
        heading.append(f"{asked}\n\n", "dim")
        states = [one.state for one in details.intervals if one.action != "skip"]
        for state_ in cells(states, width):
            heading.append(look_of(state_).symbol, _style(state_))
        return heading

    def _progress(self, details: Details) -> str:
        backfill = details.backfill
        if backfill.ended_at is not None:
            ended = f"{backfill.done} of {backfill.total} succeeded"
            failed = f", {backfill.failed} failed" if backfill.failed else ""
            return f"{ended}{failed}, in {took(backfill.created_at, backfill.ended_at)}"
        # From its beginning, so that the rate is known at the first look.
        age = (self.flow.now() - backfill.created_at).total_seconds()
        now = time.monotonic()
        return in_words(details, Speed(now - age, 0), now)


def _mark(one: Interval) -> Cell:
    return Piece(look_of(one.state).symbol, _style(one.state))


def _style(state: str) -> str:
    return style_of(state) or look_of(state).style


def _told(one: Interval) -> Cell:
    if one.action == "skip":
        return Piece(f"left alone: {one.note}", "dim")
    return Piece("run again", "dim") if one.action == "clear" else ""
