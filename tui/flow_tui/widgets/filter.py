"""The filter of a list: a line to type it into, and the filter in force while nobody types."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Input, Static

from flow_tui.memory import Memory
from flow_tui.widgets.recall import RecallInput


class FilterInput(RecallInput):
    """Escape keeps what is typed, as Enter does."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def action_leave(self) -> None:
        """Back to the list."""
        self.post_message(self.Submitted(self, self.value))


class FilterBar(Horizontal):
    """One line: `/` and the filter, how many rows fit, and what words there are."""

    DEFAULT_CSS = """
    FilterBar { height: 1; background: $surface; padding: 0 1; display: none; }
    FilterBar.open, FilterBar.filled { display: block; }
    FilterBar > #slash { width: 2; color: $accent; text-style: bold; }
    FilterBar > #shown { width: auto; max-width: 45%; color: $accent; text-style: bold; }
    FilterBar > Input { width: 1fr; height: 1; border: none; padding: 0; background: $surface; }
    FilterBar > Input:focus { border: none; }
    FilterBar > #told { width: 55%; color: $text-muted; padding-left: 2; text-align: right;
                        text-wrap: nowrap; text-overflow: ellipsis; }
    FilterBar > Input { display: none; }
    FilterBar.open > Input { display: block; }
    FilterBar.open > #shown { display: none; }
    """

    text: reactive[str] = reactive("")
    """The filter in force."""

    class Changed(Message):
        """Another filter is in force."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """Nobody types any more."""

    def __init__(self, name: str, memory: Memory, hint: str) -> None:
        """`name` is what it is remembered by; `hint` says what can be typed."""
        super().__init__()
        self._remembered_by = f"{name}.filter"
        self._memory = memory
        self._hint = hint
        self._counted = ""
        self.set_reactive(FilterBar.text, memory.get(self._remembered_by))

    def compose(self) -> ComposeResult:
        yield Static("/", id="slash")
        yield Static(self.text, id="shown", markup=False)
        yield FilterInput(self.text, placeholder=self._hint, select_on_focus=False, compact=True)
        yield Static(id="told", markup=False)

    def on_mount(self) -> None:
        self.set_class(bool(self.text), "filled")

    @property
    def typing(self) -> bool:
        """Whether somebody types just now."""
        return self.has_class("open")

    def open(self) -> None:
        """Let somebody type."""
        self.add_class("open")
        self.query_one(FilterInput).begin(self._memory.history(self._remembered_by))
        self._tell()

    def clear(self) -> None:
        """No filter any more."""
        self.text = ""

    def count(self, shown: int, total: int, unknown: tuple[str, ...]) -> None:
        """Say how many rows fit, and which words mean nothing here."""
        self._counted = f"{shown:,} of {total:,}" if self.text else ""
        if unknown:
            self._counted += f"  {' '.join(unknown)}? {self._hint}"
        self._tell()

    def _tell(self) -> None:
        ends = "enter keeps it · ↑ earlier ones" if self.typing else "esc shows all"
        told = "  ".join(part for part in (self._counted, ends) if part)
        self.query_one("#told", Static).update(Text(told), layout=False)

    def watch_text(self, text: str) -> None:
        self.set_class(bool(text), "filled")
        if not self.typing:
            self.query_one("#shown", Static).update(text)
        entry = self.query_one(FilterInput)
        if entry.value != text:
            entry.value = text
        self._memory.set(self._remembered_by, text)
        self.post_message(self.Changed(text))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.text = event.value

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._leave()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        if self.typing:
            self._leave()

    def _leave(self) -> None:
        if self.text.strip():
            self._memory.add(self._remembered_by, self.text.strip())
        self.remove_class("open")
        self.query_one("#shown", Static).update(self.text)
        self._tell()
        self.post_message(self.Left())
