"""Choosing one of many by a few letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, Generic, NamedTuple, TypeVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flow.wording.cells import printable, width_of
from flow_tui.dialogs.dialog import Dialog
from flow_tui.fuzzy import score
from flow_tui.sentences import first_of

T = TypeVar("T")
_SHOWN: Final = 200
"""Of more that fit, the rest is found by more letters."""
_TITLE: Final = 24
"""Columns of the terminal that most titles take; longer ones push what stands behind them."""


class Choice(NamedTuple, Generic[T]):
    """One of them. `off`: why it cannot be chosen now."""

    value: T
    title: str
    about: str = ""
    key: str = ""
    commands: Sequence[str] = ()
    """The `flow` commands that do the same, told while it is under the cursor."""
    off: str | None = None


class ChooseDialog(Dialog[T | None]):
    """Ends with what was chosen, or None."""

    DEFAULT_CSS = """
    ChooseDialog > .box { max-width: 100; height: 90%; max-height: 44; }
    ChooseDialog Input { margin-bottom: 1; background: $panel; }
    ChooseDialog OptionList {
        height: 1fr; border: none; background: $surface; padding: 0; scrollbar-size-vertical: 1;
    }
    ChooseDialog OptionList > .option-list--option-highlighted {
        background: $primary 45%; color: $text; text-style: bold;
    }
    ChooseDialog:ansi OptionList > .option-list--option-highlighted {
        background: ansi_white; color: ansi_black;  /* a list of Textual does not reverse */
    }
    ChooseDialog:nocolor OptionList > .option-list--option-highlighted {
        text-style: bold underline;
    }
    ChooseDialog #more { height: 3; margin-top: 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]
    COPY_KEY = "ctrl+y"
    HEADING: ClassVar[str] = ""
    PLACEHOLDER: ClassVar[str] = "a few letters"

    def __init__(self) -> None:
        super().__init__()
        self._choices: Sequence[Choice[T]] = ()
        self._shown: list[Choice[T]] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            box.border_title = self.HEADING
            box.border_subtitle = f"enter does it · {self.COPY_KEY} copies its command · esc closes"
            yield Input(placeholder=self.PLACEHOLDER, compact=True)
            yield OptionList()
            yield Static(id="more")

    def offer(self, choices: Sequence[Choice[T]]) -> None:
        """What can be chosen."""
        self._choices = choices
        self._show(self.query_one(Input).value)

    def on_resize(self) -> None:
        self._show(self.query_one(Input).value)

    @on(Input.Changed)
    def changed(self, event: Input.Changed) -> None:
        """Other letters."""
        self._show(event.value)

    def _show(self, letters: str) -> None:
        found = [
            (value, choice)
            for choice in self._choices
            if (value := score(letters, f"{choice.title} {choice.about}")) is not None
        ]
        if letters:
            found.sort(key=lambda one: (one[1].title != letters, -one[0]))
        self._shown = [choice for _, choice in found[:_SHOWN]]
        options = self.query_one(OptionList)
        options.clear_options()
        room = max(20, options.size.width - 3)  # padding, scrollbar
        keys = max((len(choice.key) for choice in self._choices), default=0)
        titles = min(_TITLE, max((width_of(choice.title) for choice in self._choices), default=0))
        options.add_options(Option(_line(choice, keys, titles, room)) for choice in self._shown)
        options.highlighted = 0 if self._shown else None
        if not self._shown:
            self.query_one("#more", Static).update("nothing has these letters in this order")

    @on(OptionList.OptionHighlighted)
    def highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say more about what is under the cursor."""
        choice = self._shown[event.option_index]
        more = Text(choice.off or choice.about)
        if choice.commands:
            more.append(f"\n{printable(first_of(choice.commands))}", "bold")
        self.query_one("#more", Static).update(more)

    @property
    def commands(self) -> Sequence[str]:
        at = self.query_one(OptionList).highlighted
        return () if at is None else self._shown[at].commands

    @on(Input.Submitted)
    def submitted(self) -> None:
        """What is under the cursor."""
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.dismiss(self._shown[at].value)

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        """What was clicked."""
        self.dismiss(self._shown[event.option_index].value)

    def action_move(self, by: int) -> None:
        """Move through the list while the letters keep the focus."""
        options = self.query_one(OptionList)
        if by > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()


def _line(choice: Choice[T], keys: int, titles: int, room: int) -> Text:
    key, title = f"{choice.key:>{keys}}  ", f"{choice.title:<{titles}}  "
    line = Text.assemble(
        (key, "bold"), (title, "dim" if choice.off else ""), (choice.off or choice.about, "dim")
    )
    line.truncate(room, overflow="ellipsis")
    return line
