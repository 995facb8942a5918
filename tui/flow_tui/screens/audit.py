"""Who changed what, newest first."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import Any, Final

from flow.ops import audit
from flow.ops.deployment import Deployment
from flow.store.read.audit import AuditEntry
from flow.wording.cells import text_of
from flow.wording.moments import ago
from flow.wording.run_names import brief
from flow_tui.filters import Texts
from flow_tui.listing import Listing, by
from flow_tui.sentences import joined
from flow_tui.targets import Kind, Target
from flow_tui.widgets.table import Cell, Column, Piece

SHOWN: Final = 1_000
"""Entries that are read: the newest ones."""


class AuditScreen(Listing[AuditEntry]):
    """The table of the newest entries; enter shows one as a whole."""

    KINDS = frozenset({Kind.ENTRY})
    IN_VIEW = "audit"
    FIELDS = ("who", "verb", "target", "host")
    EMPTY = "nobody has changed anything yet"

    def columns(self) -> Sequence[Column[AuditEntry]]:
        return (
            Column("when", self._when, right=True, sort=lambda one: one.at),
            Column("who", lambda one: Piece(one.os_user, "bold"), widest=16),
            Column("did", lambda one: one.verb, widest=24),
            Column("to", lambda one: brief(one.target), widest=60, sort=by(lambda one: one.target)),
            Column("before → after", _change, widest=90, ordered=False),
            Column("host", lambda one: Piece(one.host, "dim"), rank=1, widest=24),
        )

    def key_of(self, row: AuditEntry) -> Hashable:
        return row.audit_id

    def texts(self, row: AuditEntry) -> Texts:
        return Texts.of(
            f"{row.os_user} {row.verb} {row.target}",
            who=(row.os_user, row.db_role),
            verb=row.verb,
            target=row.target,
            host=row.host,
        )

    def about(self, row: AuditEntry) -> str:
        return joined(text_of(row.at), f"{row.os_user} as {row.db_role} on {row.host}", row.target)

    async def load(self) -> None:
        rows = await self.read_rows(lambda deployment: audit.page(deployment, limit=SHOWN).rows)
        self.show(rows)
        if len(rows) == SHOWN:
            self.tell(f"the newest {SHOWN:,}; flow audit --since reaches further back")

    def targets(self) -> Sequence[Target]:
        return [Target(Kind.ENTRY, (str(one.audit_id),)) for one in self.table.chosen]

    def do_app_open(self) -> None:
        """Show an entry as a whole."""
        from flow_tui.dialogs.text import TextDialog

        entry = self.table.current
        if entry is not None:
            lines = _lines(entry)

            def answer(deployment: Deployment) -> list[str]:
                return lines

            self.flow.push_screen(TextDialog(self.command, answer))

    @property
    def path(self) -> tuple[str, ...]:
        return ("Audit",)

    def _when(self, one: AuditEntry) -> Cell:
        return Piece(ago(one.at, self.now()), "dim")


def _change(one: AuditEntry) -> Cell:
    """What differs; of what is new or gone, all of it."""
    before, after = one.before or {}, one.after or {}
    if not before or not after:
        return [
            Piece("− " if before else "+ " if after else "", "dim"),
            Piece(_short(before or after)),
        ]
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    pieces: list[Piece] = []
    for name in names:
        pieces.append(Piece(f"{'  ' if pieces else ''}{name} ", "dim"))
        pieces.append(Piece(f"{_value(before.get(name))} → {_value(after.get(name))}"))
    return pieces


def _short(facts: dict[str, Any]) -> str:
    return "  ".join(f"{name} {_value(value)}" for name, value in facts.items())


def _value(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _lines(entry: AuditEntry) -> list[str]:
    lines = [
        f"WHEN    {text_of(entry.at)}",
        f"WHO     {entry.os_user}, database role {entry.db_role}, on {entry.host}",
        f"DID     {entry.verb}",
        f"TO      {entry.target}",
    ]
    for heading, facts in (("BEFORE", entry.before), ("AFTER", entry.after)):
        if facts:
            lines += ["", heading, *(f"  {name}: {_value(value)}" for name, value in facts.items())]
    return lines
