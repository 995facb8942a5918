"""One pool: who holds its slots, and who waits for them and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from flow.ops import pools
from flow.ops.pools import Holder, PoolUse, Waiting
from flow.wording.cells import counted, printable
from flow.wording.moments import ago
from flow.wording.pools import deferred, room
from flow.wording.run_names import brief
from flow_tui import targets
from flow_tui.looking import opened
from flow_tui.screens import pool_bars
from flow_tui.sentences import joined
from flow_tui.targets import Kind, Target
from flow_tui.view import View
from flow_tui.widgets.panel import Panel
from flow_tui.widgets.table import Column, Piece

_BAR: Final = 24
"""Columns of the bar."""


class PoolScreen(View):
    """Enter opens the task that has held slots longest, or the DAG that waits."""

    DEFAULT_CSS = """
    PoolScreen #pool { height: auto; padding: 0 2; }
    PoolScreen Panel { height: 1fr; }
    """
    KINDS = frozenset({Kind.DAG, Kind.TASK})
    IN_VIEW = "pools"

    def __init__(self, name: str) -> None:
        super().__init__()
        self._pool = name

    def content(self) -> ComposeResult:
        yield Static(id="pool")
        with Vertical():
            yield Panel(
                "holders", "held by", self._holding(), lambda one: one.dag_id, empty="nobody"
            )
            yield Panel(
                "waiting", "waited for by", self._waiting(), lambda one: one.dag_id, empty="nobody"
            )

    def on_mount(self) -> None:
        self.query_one("#holders").focus()

    async def load(self) -> None:
        use = await self.read(lambda deployment: pools.show(deployment, self._pool))
        self.query_one("#pool", Static).update(_heading(use))
        self.query_one("#holders", Panel).show(use.holders)
        self.query_one("#waiting", Panel).show(use.waiting)
        if not self._loaded and use.waiting and not use.holders:
            self.query_one("#waiting").focus()

    def targets(self) -> Sequence[Target]:
        panel = self.focused
        row = panel.current if isinstance(panel, Panel) else None
        if isinstance(row, Holder):
            run_id, _, task_id = row.oldest.rpartition("/")
            return [targets.task(row.dag_id, run_id, task_id)]
        return [targets.dag(row.dag_id)] if isinstance(row, Waiting) else []

    @property
    def path(self) -> tuple[str, ...]:
        return ("Pools", self._pool)

    @property
    def command(self) -> str:
        return opened(Target(Kind.POOL, (self._pool,)))

    def on_descendant_focus(self) -> None:
        self.update_hints()

    def _holding(self) -> tuple[Column[Holder], ...]:
        return (
            Column("dag", lambda one: Piece(one.dag_id, "bold"), widest=70, enough=24),
            Column("tasks", lambda one: counted(one.tasks, "task"), right=True),
            Column("slots", lambda one: counted(one.slots, "slot"), right=True),
            Column("oldest", lambda one: f"oldest {brief(one.oldest)}", rank=1, widest=70),
            Column("since", lambda one: Piece(ago(one.since, self.flow.now()), "dim")),
        )

    def _waiting(self) -> tuple[Column[Waiting], ...]:
        return (
            Column("dag", lambda one: Piece(one.dag_id, "bold"), widest=70, enough=24),
            Column("tasks", lambda one: counted(one.tasks, "task"), right=True),
            Column("priority", lambda one: f"priority {one.priority}", rank=2),
            Column("since", lambda one: Piece(ago(one.since, self.flow.now()), "dim"), rank=1),
            Column("reason", lambda one: one.reason, widest=80, prose=True, enough=30),
        )


def _heading(use: PoolUse) -> Text:
    pool = use.pool
    line = Text(no_wrap=True)
    if pool.open is not None:
        for piece in pool_bars.bar(pool, _BAR):
            line.append(*piece)
        line.append("  ")
    line.append(room(pool))
    described = printable(pool.description)
    line.append(f"\n{joined(f'deferred tasks {deferred(pool)}', described)}", "dim")
    return line
