"""Pools: how full they are, and how much waits for them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from flow.ops import pools
from flow.ops.pools import Pool
from flow.wording.pools import deferred, room
from flow_tui.filters import Texts
from flow_tui.listing import Listing, by
from flow_tui.screens import pool_bars
from flow_tui.sentences import joined
from flow_tui.targets import Kind, Target
from flow_tui.widgets.table import Cell, Column, Piece


class PoolsScreen(Listing[Pool]):
    """The table of all pools."""

    KINDS = frozenset({Kind.POOL})
    IN_VIEW = "pools"
    FIELDS = ("is",)
    EMPTY = "no pool: flow pools set NAME SLOTS makes one"

    def columns(self) -> Sequence[Column[Pool]]:
        return (
            Column("pool", lambda pool: Piece(pool.name, "bold"), sort=by(lambda p: p.name)),
            Column("use", lambda pool: pool_bars.bar(pool, 16), sort=pool_bars.fullness),
            Column("open", _open, right=True, sort=lambda pool: pool.open),
            Column("running", _count("running"), right=True, sort=lambda pool: pool.running),
            Column("queued", _count("queued"), right=True, sort=lambda pool: pool.queued),
            Column("waiting", _count("scheduled"), right=True, sort=lambda pool: pool.scheduled),
            Column(
                "deferred", _count("deferred"), rank=1, right=True, sort=lambda pool: pool.deferred
            ),
            Column("for", lambda pool: pool.description, rank=2, widest=60),
        )

    def key_of(self, row: Pool) -> Hashable:
        return row.name

    def texts(self, row: Pool) -> Texts:
        flags = {"full": row.open == 0, "waiting": row.scheduled > 0, "unlimited": row.open is None}
        return Texts.of(row.name, flags)

    def about(self, row: Pool) -> str:
        kept = f"deferred tasks {deferred(row)}" if row.include_deferred else None
        return joined(room(row), kept, row.description, "enter shows who holds and who waits")

    async def load(self) -> None:
        self.show(await self.read_rows(lambda deployment: pools.page(deployment).rows))

    def targets(self) -> Sequence[Target]:
        return [Target(Kind.POOL, (pool.name,)) for pool in self.table.chosen]

    @property
    def path(self) -> tuple[str, ...]:
        return ("Pools",)


def _open(pool: Pool) -> Cell:
    if pool.open is None:
        return Piece("∞", "dim")
    return Piece(f"{pool.open}/{pool.slots}", "bold red" if not pool.open else "")


def _count(name: str) -> Callable[[Pool], Cell]:
    def cell(pool: Pool) -> Cell:
        number: int = getattr(pool, name)
        return Piece(f"{number:,}", "" if number else "dim")

    return cell
