"""The log of a task: that of one of its tries, followed while it grows, and searched."""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, Self, cast

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from flow.errors import LogUnreadable
from flow.logs import LogFiles
from flow.ops.logs import place_of, source_of
from flow.ops.tasks import TriesOfTask
from flow.store.read.tasks import Try
from flow.wording.cells import counted, printable
from flow_tui.background import start
from flow_tui.log_model import LogFile, Search
from flow_tui.sentences import joined
from flow_tui.widgets.log_view import LogView

if TYPE_CHECKING:
    from flow_tui.app import FlowApp

_MOST_FOUND: Final = 10_000
_GLANCE: Final = 0.2
"""Seconds between two looks at a log that may grow."""


class TaskLog(Vertical):
    """Shows the log of the last try until another one is wanted."""

    DEFAULT_CSS = """
    TaskLog #log-note { height: 1; padding: 0 1; color: $text-muted; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._found: TriesOfTask | None = None
        self.wanted: int | None = None
        """The try whose log is shown; None: the last one."""
        self._log: LogFile | None = None
        self._shown: tuple[str, datetime] | None = None
        """Its address, and when the run was made: one of the same id may be made again."""
        self._missing = ""

    def compose(self) -> ComposeResult:
        yield LogView()
        yield Static("looking …", id="log-note")

    def on_mount(self) -> None:
        start(self.screen, self._follow, group="log")

    def focus(self, scroll_visible: bool = True) -> Self:
        """The focus is that of the lines."""
        self.view.focus(scroll_visible)
        return self

    @property
    def view(self) -> LogView:
        """The lines."""
        return self.query_one(LogView)

    @property
    def grows(self) -> bool:
        """Whether more may come: the try has not ended."""
        return self._try is not None and self._try.ended_at is None

    @property
    def _flow(self) -> FlowApp:
        return cast("FlowApp", self.app)

    # ── which try ────────────────────────────────────────────────────────────────────────────────

    def take(self, found: TriesOfTask) -> None:
        """The tries of the task, as they are now."""
        self._found = found
        self._choose()

    def choose(self, try_number: int | None) -> None:
        """Show the log of a try; None: of the last one, whichever that is."""
        self.wanted = try_number
        self._choose()

    def step(self, by: int) -> None:
        """Show the log of the try before or after."""
        tries, chosen = self._tries, self._try
        if chosen is None:
            return
        at = tries.index(chosen) + by
        if 0 <= at < len(tries):
            self.choose(tries[at].try_number if at < len(tries) - 1 else None)
        else:
            self.notify("there is no older try" if by < 0 else "this is the last try", timeout=2)

    @property
    def _tries(self) -> list[Try]:
        return self._found.tries if self._found else []

    @property
    def _try(self) -> Try | None:
        """The try whose log is shown."""
        if self.wanted is None:
            return self._tries[-1] if self._tries else None
        return next((one for one in self._tries if one.try_number == self.wanted), None)

    @property
    def _place(self) -> LogFiles:
        return LogFiles(self._flow.session.settings.logs.root)

    def _choose(self) -> None:
        chosen, found = self._try, self._found
        if chosen is not None and found is not None:
            source = source_of(found.run, found.reference, chosen, self._place)
            place = place_of(chosen, found.made_at, self._place)
            shown = (source.log, found.made_at)
            if self._log is None or self._shown != shown:
                self._log, self._shown = LogFile(place, source.log), shown
                self.view.begin()
            else:
                self._log.place = place
        self._note()

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    async def _follow(self) -> None:
        """Look at the log again and again, as long as this screen is in front."""
        while self.is_attached:
            log = self._log
            more = False
            if log is not None and self.screen.is_current:
                try:
                    more = await self._grow(log)
                except LogUnreadable as error:
                    self._missing = error.message
            if not more:
                await asyncio.sleep(_GLANCE)
            if self.is_attached:
                self._note()

    async def _grow(self, log: LogFile) -> bool:
        """Take in what has come; whether there is more already."""
        grown = await self._flow.session.files.do(log.grow)
        if log is not self._log:
            return False
        self._missing = ""
        if grown.anew:
            self.view.begin()
        self.view.grew(grown.lines)
        if not grown.lines:
            await self._look_for(log)
        return grown.more

    async def _look_for(self, log: LogFile) -> None:
        there = await self._flow.session.files.do(partial(log.place.exists, log.address))
        chosen = self._try
        if not there and chosen is not None and chosen.ended_at is not None:
            self._missing = (
                f"the log is not on this host: {log.address}; it was written on {chosen.worker}"
            )

    @on(LogView.Wanted)
    def lines_wanted(self, message: LogView.Wanted) -> None:
        """Lines of the log are needed."""
        if self._log is not None:
            work = partial(self._fetch, self._log, message.first, message.count)
            start(self.screen, work, group="window", exclusive=True)

    async def _fetch(self, log: LogFile, first: int, count: int) -> None:
        try:
            texts = await self._flow.session.files.do(partial(log.window, first, count))
        except LogUnreadable:
            return  # the next look tells of it
        if log is self._log:
            self.view.show_lines(first, texts)

    @on(LogView.Changed)
    def _note(self) -> None:
        """Say below the log where one is in it."""
        note = self.query_one("#log-note", Static)
        view, chosen, tries = self.view, self._try, self._tries
        if chosen is None:
            note.update("it has not started: there is no log yet" if self._found else "looking …")
            return
        if self._missing:
            note.update(Text(printable(self._missing)))
            return
        told = joined(
            f"try {chosen.try_number} of {tries[-1].try_number}" if len(tries) > 1 else None,
            counted(view.lines, "line"),
            "following" if view.following and self.grows else None,
            view.search.counter if view.search else None,
        )
        note.update(Text(told))

    # ── searching ────────────────────────────────────────────────────────────────────────────────

    def find_next(self, by: int) -> None:
        """The next or previous line that fits the search, which there has to be."""
        if self.view.search is not None:
            self.view.show_search(self.view.search.step(by))

    def search(self, letters: str) -> None:
        """Look for letters from what is seen on; without any, for nothing any more."""
        if self._log is None:
            return
        if letters:
            work = partial(self._search, self._log, letters)
            start(self.screen, work, group="search", exclusive=True)
        else:
            self.view.show_search(None)

    async def _search(self, log: LogFile, letters: str) -> None:
        try:
            lines = await self._flow.session.files.do(partial(log.search, letters, _MOST_FOUND))
        except LogUnreadable as error:
            self.notify(error.message, severity="warning")
            return
        if log is self._log:
            self.view.show_search(Search(letters, lines).after(self.view.top))
