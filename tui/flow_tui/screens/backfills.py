"""Backfills and how they are coming on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from flow.ops import backfills
from flow.store.read.backfills import Backfill
from flow.wording.backfills import pace, summary
from flow.wording.cells import text_of
from flow.wording.moments import ago
from flow_tui.filters import Texts
from flow_tui.listing import Listing
from flow_tui.screens import backfill_cells
from flow_tui.sentences import joined
from flow_tui.targets import Kind, Target
from flow_tui.widgets.table import Cell, Column, Piece

SHOWN: Final = 200
"""Backfills that are read: the newest ones."""
_BAR: Final = 20


class BackfillsScreen(Listing[Backfill]):
    """The table of the newest backfills."""

    KINDS = frozenset({Kind.BACKFILL})
    IN_VIEW = "backfills"
    FIELDS = ("is", "by")
    EMPTY = "no backfill yet: B on a DAG starts one, or flow backfill DAG --from A --to B"

    def columns(self) -> Sequence[Column[Backfill]]:
        return (
            Column("id", lambda one: str(one.id), right=True, sort=lambda one: one.id),
            Column("dag", lambda one: Piece(one.dag_id, "bold"), widest=50),
            Column("state", backfill_cells.state),
            Column("done", lambda one: backfill_cells.bar(one, _BAR), ordered=False),
            Column("ended", _ended, right=True, sort=lambda one: one.done + one.failed),
            Column("failed", _failed, right=True, sort=lambda one: one.failed),
            Column("from", lambda one: f"{one.start:%F}", rank=1, sort=lambda one: one.start),
            Column("to", lambda one: f"{one.end:%F}", rank=1, sort=lambda one: one.end),
            Column("made", self._made, rank=2, right=True, sort=lambda one: one.created_at),
            Column("by", lambda one: one.created_by, rank=3, widest=16),
        )

    def key_of(self, row: Backfill) -> Hashable:
        return row.id

    def texts(self, row: Backfill) -> Texts:
        flags = {row.state: True, "failed": row.failed > 0}
        return Texts.of(f"{row.id} {row.dag_id}", flags, by=row.created_by)

    def about(self, row: Backfill) -> str:
        tasks = f"tasks {', '.join(row.tasks)}" if row.tasks else None
        days = f"{text_of(row.start)} to {text_of(row.end)}"
        return joined(summary(row), days, pace(row), tasks)

    async def load(self) -> None:
        self.show(
            await self.read_rows(lambda deployment: backfills.page(deployment, limit=SHOWN).rows)
        )

    def targets(self) -> Sequence[Target]:
        return [Target(Kind.BACKFILL, (str(one.id),), one.state) for one in self.table.chosen]

    @property
    def path(self) -> tuple[str, ...]:
        return ("Backfills",)

    def _made(self, one: Backfill) -> Cell:
        return Piece(ago(one.created_at, self.now()), "dim")


def _ended(one: Backfill) -> Cell:
    return f"{one.done + one.failed}/{one.total}"


def _failed(one: Backfill) -> Cell:
    return Piece(str(one.failed), "bold red") if one.failed else Piece("0", "dim")
