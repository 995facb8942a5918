"""Starting a backfill: from where to where, how many at a time, what is done again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Button, Input, Label, Select

from flow.errors import UsageError
from flow_tui.action import Action
from flow_tui.deeds import backfills
from flow_tui.deeds.backfills import BackfillWish
from flow_tui.deeds.deed import Deed
from flow_tui.dialogs.plan import PlanDialog
from flow_tui.targets import Target

REPROCESS: Final = ("none", "failed", "all")
ORDER: Final = ("oldest", "newest")


class BackfillDialog(PlanDialog):
    """The plan follows what is written; the range of the selected runs stands there at first."""

    DEFAULT_CSS = """
    BackfillDialog .fields { height: 1; }
    BackfillDialog #command { margin-top: 1; }
    BackfillDialog Label { width: auto; margin-right: 1; color: $text-muted; }
    BackfillDialog Input { width: 1fr; margin-right: 2; background: $panel; }
    BackfillDialog #most { width: 10; }
    BackfillDialog Select { width: 16; height: 1; margin-right: 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", show=False, priority=True),
    ]
    COPY_KEY = "ctrl+y"

    def __init__(self, action: Action, targets: Sequence[Target], start: str, end: str) -> None:
        """`start` and `end` are date arguments, empty where nothing is selected."""
        super().__init__(action, targets)
        self._suggested = backfills.suggested(targets, start, end)

    def choices(self) -> ComposeResult:
        wish = self._suggested
        with Horizontal(classes="fields"):
            yield Label("from")
            yield Input(wish.start, placeholder="2026-10-01, -7d", id="from", compact=True)
            yield Label("to")
            yield Input(wish.end, placeholder="the last complete interval", id="to", compact=True)
        with Horizontal(classes="fields"):
            yield Label("tasks")
            yield Input(wish.tasks, placeholder="all", id="tasks", compact=True)
            yield Label("at a time")
            yield Input(placeholder="as usual", id="most", compact=True)
        with Horizontal(classes="fields"):
            yield Label("do again")
            yield self._select(REPROCESS, wish.reprocess, "reprocess")
            yield Label("first")
            yield self._select(ORDER, wish.order, "order")

    def _select(self, words: Sequence[str], chosen: str, id: str) -> Select[str]:
        options = [(word, word) for word in words]
        return Select(options, value=chosen, allow_blank=False, compact=True, id=id)

    def first_focus(self) -> str:
        return "#most" if self._suggested.start else "#from"

    def deeds(self) -> list[Deed]:
        if not self._value("from"):
            raise UsageError("from which interval on?", "write a date, or so many days ago: -7d")
        most = self._value("most")
        if most and not (most.isdigit() and int(most)):
            raise UsageError(f"{most!r} runs at a time?", "write a number from 1 on")
        wish = BackfillWish(
            dag_id=self.targets[0].words[0],
            start=self._value("from"),
            end=self._value("to") or None,
            tasks=self._value("tasks") or None,
            most=int(most) if most else None,
            order=self._chosen("order"),
            reprocess=self._chosen("reprocess"),
        )
        return [backfills.start(wish)]

    def _value(self, id: str) -> str:
        return self.query_one(f"#{id}", Input).value.strip()

    def _chosen(self, id: str) -> str:
        select: Select[Any] = self.query_one(f"#{id}", Select)
        return str(select.value)

    @on(Input.Changed)
    @on(Select.Changed)
    def changed(self) -> None:
        """Look at what would be done now."""
        self.look()

    @on(Input.Submitted)
    def submitted(self) -> None:
        """On to the question."""
        button = self.query_one("#do", Button)
        (self.query_one("#cancel") if button.disabled else button).focus()

    def default_focus(self, button: Button) -> None:
        """Somebody may still be writing."""
