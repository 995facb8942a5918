"""One task of a run: its log, its tries, why it is as it is, what it rendered and pushed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from flow.errors import FlowError, LogUnreadable
from flow.logs import LogFiles
from flow.ops import events, rendering, tasks, why, xcoms
from flow.ops.deployment import Deployment
from flow.ops.logs import source_of
from flow.ops.tasks import TriesOfTask
from flow.ops.why import Answer
from flow.store.read.tasks import Try, XCom
from flow.wording.cells import duration_text, printable, text_of
from flow.wording.why import describe
from flow_tui.background import start
from flow_tui.deeds import command
from flow_tui.dialogs.search import SearchDialog
from flow_tui.log_model import LogFile, Search
from flow_tui.looks import mark_of, style_of
from flow_tui.screens.event_list import EVENT_COLUMNS, event_key
from flow_tui.targets import Kind, Target
from flow_tui.view import View
from flow_tui.widgets.log_view import LogView
from flow_tui.widgets.page import Page, fields
from flow_tui.widgets.panes import Panes
from flow_tui.widgets.table import Column, Piece, Table

_MOST_FOUND: Final = 10_000
_GLANCE: Final = 0.2
"""Seconds between two looks at a log that may grow."""


class Shown(NamedTuple):
    """What is read of a task."""

    found: TriesOfTask
    answer: Answer


TRY_COLUMNS: Final = (
    Column[Try]("try", lambda one: str(one.try_number), right=True),
    Column[Try]("state", lambda one: Piece(one.state, style_of(one.state))),
    Column[Try]("took", lambda one: _took(one), right=True),
    Column[Try]("started", lambda one: text_of(one.started_at), rank=3),
    Column[Try]("exit", lambda one: _exit(one), rank=1),
    Column[Try]("memory", lambda one: _memory(one.peak_rss_bytes), rank=4, right=True),
    Column[Try]("cpu", lambda one: _cpu(one.cpu_s), rank=5, right=True),
    Column[Try]("worker", lambda one: one.worker, rank=2),
    Column[Try]("reason", lambda one: one.reason or "", rank=0),
)
XCOM_COLUMNS: Final = (
    Column[XCom]("key", lambda one: one.key),
    Column[XCom]("value", lambda one: one.value, widest=200),
    Column[XCom]("try", lambda one: str(one.try_number), rank=2, right=True),
    Column[XCom]("pushed", lambda one: text_of(one.created_at), rank=1),
)


class TaskScreen(View):
    """Opens on the log of the last try, at its end."""

    KINDS = frozenset({Kind.TASK, Kind.LOG})

    DEFAULT_CSS = """
    TaskScreen #about { height: auto; max-height: 4; padding: 0 1; }
    TaskScreen #log-note { height: 1; padding: 0 1; color: $text-muted; }
    """

    def __init__(self, dag_id: str, run_id: str, reference: str) -> None:
        super().__init__()
        self._names = dag_id, run_id, reference
        self._shown: Shown | None = None
        self._wanted: int | None = None
        """The try whose log is shown; None: the last one."""
        self._log: LogFile | None = None
        self._log_missing = ""

    def content(self) -> ComposeResult:
        yield Static(id="about")
        yield Panes(
            log=LogView(),
            tries=Table(TRY_COLUMNS, lambda one: one.try_number, empty="it has not started yet"),
            why=Page("looking …"),
            rendered=Page("looking …"),
            xcom=Table(XCOM_COLUMNS, lambda one: one.key, empty="it has pushed nothing"),
            events=Table(EVENT_COLUMNS, event_key, empty="nothing has happened yet"),
        )
        yield Static(id="log-note")

    def on_mount(self) -> None:
        super().on_mount()
        start(self, self._follow, group="log")

    @property
    def path(self) -> tuple[str, ...]:
        return self._names

    @property
    def command(self) -> str:
        match self.query_one(Panes).shown:
            case "tries":
                return command("tasks", "tries", *self._names)
            case "why":
                return command("why", *self._names)
            case "rendered":
                dag_id, run_id, reference = self._names
                return command("tasks", "render", dag_id, reference, run_id)
            case "xcom":
                return command("xcom", "list", *self._names)
            case "events":
                return command("events", *self._names[:2])
        chosen = ("--try", str(self._wanted)) if self._wanted is not None else ()
        return command("logs", *self._names, *chosen)

    def targets(self) -> Sequence[Target]:
        state = self._shown.answer.state if self._shown else None
        held = self._shown is not None and any(
            reason.code == "held" for reason in self._shown.answer.reasons
        )
        flags = frozenset({"held"} if held else ())
        return [Target(Kind.TASK, self._names, state, flags)]

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    async def load(self) -> None:
        self._shown = await self.read(self._read)
        found = self._shown.found
        self.query_one("#about", Static).update(_about(self._shown))
        self.query_one("#pane-tries", Table).show(list(reversed(found.tries)))
        self.query_one("#pane-why", Page).show(describe(self._shown.answer))
        self._choose_log()
        match self.query_one(Panes).shown:
            case "xcom":
                await self._load_xcoms()
            case "events":
                await self._load_events()
        self._note()

    def _read(self, deployment: Deployment) -> Shown:
        return Shown(tasks.tries(deployment, *self._names), why.why(deployment, *self._names))

    @on(Panes.Shown)
    def pane_shown(self, message: Panes.Shown) -> None:
        """Read what only this pane shows."""
        match message.name:
            case "rendered":
                start(self, self._load_rendered, group="render", exclusive=True)
            case "xcom" | "events":
                self.refresh_data()
        self._note()
        self.update_hints()

    async def _load_xcoms(self) -> None:
        dag_id, run_id, reference = self._names
        found = await self.read(lambda at: xcoms.list_(at, dag_id, run_id, reference))
        self.query_one("#pane-xcom", Table).show(found)

    async def _load_events(self) -> None:
        dag_id, run_id, _ = self._names
        assert self._shown is not None
        task = self._shown.found.reference
        asked = events.Asked(dag_id, run_id)
        found = await self.read(partial(events.recent, asked=asked))
        own = [
            one
            for one in found
            if one.task_id is None
            or (one.task_id == task.task_id and tuple(one.map_index or ()) == tuple(task.map_index))
        ]
        self.query_one("#pane-events", Table).show(own)

    async def _load_rendered(self) -> None:
        page = self.query_one("#pane-rendered", Page)
        page.show(["rendering the task's fields, in a process that imports its DAG file …"])
        dag_id, run_id, reference = self._names
        try:
            found = await self.flow.session.read_slowly(
                lambda at: rendering.render(at, dag_id, reference, run_id)
            )
        except FlowError as error:
            page.show([error.message, error.hint])
            return
        values = {
            name: value if isinstance(value, str) else text_of(value)
            for name, value in found.fields.items()
        }
        page.show(fields(values) if values else ["this task has no template fields"])

    # ── the log ──────────────────────────────────────────────────────────────────────────────────

    @property
    def _view(self) -> LogView:
        return self.query_one(LogView)

    @property
    def _try(self) -> Try | None:
        """The try whose log is shown."""
        made = self._shown.found.tries if self._shown else []
        if self._wanted is None:
            return made[-1] if made else None
        return next((one for one in made if one.try_number == self._wanted), None)

    def _choose_log(self) -> None:
        chosen, shown = self._try, self._shown
        if chosen is None or shown is None:
            return
        place = LogFiles(self.flow.session.settings.logs.root)
        source = source_of(shown.found.run, shown.found.reference, chosen, place)
        if self._log is None or self._log.address != source.log:
            self._log = LogFile(place, source.log)
            self._view.begin()

    async def _follow(self) -> None:
        """Look at the log again and again, as long as this screen is in front."""
        while self.is_attached:
            log = self._log
            more = False
            if log is not None and self.is_current:
                try:
                    more = await self._grow(log)
                except LogUnreadable as error:
                    self._log_missing = error.message
            if not more:
                await asyncio.sleep(_GLANCE)
            if self.is_attached:
                self._note()

    async def _grow(self, log: LogFile) -> bool:
        """Take in what has come; whether there is more already."""
        grown = await self.flow.session.files.do(log.grow)
        if log is not self._log:
            return False
        self._log_missing = ""
        if grown.anew:
            self._view.begin()
        self._view.grew(grown.lines)
        if not grown.lines:
            await self._look_for(log)
        return grown.more

    async def _look_for(self, log: LogFile) -> None:
        place = LogFiles(self.flow.session.settings.logs.root)
        there = await self.flow.session.files.do(lambda: place.exists(log.address))
        chosen = self._try
        if not there and chosen is not None and chosen.ended_at is not None:
            self._log_missing = (
                f"the log is not on this host: {log.address}; it was written on {chosen.worker}"
            )

    @on(LogView.Wanted)
    def wanted(self, message: LogView.Wanted) -> None:
        """Lines of the log are needed."""
        if self._log is not None:
            work = partial(self._fetch, self._log, message.first, message.count)
            start(self, work, group="window", exclusive=True)

    async def _fetch(self, log: LogFile, first: int, count: int) -> None:
        try:
            texts = await self.flow.session.files.do(partial(log.window, first, count))
        except LogUnreadable:
            return  # the next look tells of it
        if log is self._log:
            self._view.show_lines(first, texts)

    @on(LogView.Changed)
    def _note(self) -> None:
        """Say below the log where one is in it."""
        note = self.query_one("#log-note", Static)
        note.display = self.query_one(Panes).shown == "log"
        view, chosen = self._view, self._try
        if chosen is None:
            note.update("it has not started: there is no log yet" if self._shown else "looking …")
            return
        if self._log_missing:
            note.update(Text(printable(self._log_missing)))
            return
        made = self._shown.found.tries if self._shown else []
        parts = [f"try {chosen.try_number} of {made[-1].try_number}" if len(made) > 1 else ""]
        parts.append(f"{view.lines} lines" if view.lines != 1 else "1 line")
        parts.append("following" if view.following and chosen.ended_at is None else "")
        parts.append(view.search.counter if view.search else "")
        note.update(Text("  ·  ".join(part for part in parts if part)))

    # ── actions ──────────────────────────────────────────────────────────────────────────────────

    def do_pane_next(self) -> None:
        """The next pane."""
        self.query_one(Panes).step(1)

    def do_pane_previous(self) -> None:
        """The pane before."""
        self.query_one(Panes).step(-1)

    def do_task_log(self) -> None:
        """The log."""
        self.query_one(Panes).show("log")

    def do_item_why(self) -> None:
        """Why it is as it is."""
        self.query_one(Panes).show("why")

    def do_log_older(self) -> None:
        """The log of the try before."""
        self._other_try(-1)

    def do_log_newer(self) -> None:
        """The log of the next try."""
        self._other_try(1)

    def _other_try(self, by: int) -> None:
        if self.query_one(Panes).shown != "log":
            self.query_one(Panes).step(by)
            return
        made, chosen = (self._shown.found.tries if self._shown else []), self._try
        if chosen is None:
            return
        at = made.index(chosen) + by
        if 0 <= at < len(made):
            self._wanted = made[at].try_number if at < len(made) - 1 else None
            self._choose_log()
            self._note()
        else:
            self.notify("there is no older try" if by < 0 else "this is the last try", timeout=2)

    def do_app_open(self) -> None:
        """Of a try in the list, its log."""
        panes = self.query_one(Panes)
        chosen: Try | None = self.query_one("#pane-tries", Table).current
        if panes.shown == "tries" and chosen is not None:
            self._wanted = chosen.try_number
            panes.show("log")
            self._choose_log()

    def do_log_follow(self) -> None:
        """To the end of the log, and on with it."""
        self.query_one(Panes).show("log")
        self._view.following = True

    def do_log_wrap(self) -> None:
        """Fold long lines, or not."""
        self._view.wrapped = not self._view.wrapped

    def do_log_next(self) -> None:
        """The next line that fits."""
        self._step(1)

    def do_log_previous(self) -> None:
        """The line before that fits."""
        self._step(-1)

    def _step(self, by: int) -> None:
        if self._view.search is None:
            self.do_app_filter()
        else:
            self._view.show_search(self._view.search.step(by))

    def do_app_filter(self) -> None:
        """Search the log."""
        memory = self.flow.memory
        before = self._view.search.letters if self._view.search else memory.get("log.search")
        self.query_one(Panes).show("log")
        self.app.push_screen(SearchDialog(before, memory.history("log.search")), self._search_for)

    def _search_for(self, letters: str | None) -> None:
        if letters is None or self._log is None:
            return
        if not letters:
            self._view.show_search(None)
            return
        self.flow.memory.set("log.search", letters)
        self.flow.memory.add("log.search", letters)
        start(self, partial(self._search, self._log, letters), group="search", exclusive=True)

    async def _search(self, log: LogFile, letters: str) -> None:
        try:
            lines = await self.flow.session.files.do(partial(log.search, letters, _MOST_FOUND))
        except LogUnreadable as error:
            self.notify(error.message, severity="warning")
            return
        if log is self._log:
            self._view.show_search(Search(letters, lines).after(self._view.top))


def _about(shown: Shown) -> Text:
    """State, try, duration and worker; below it why, in plain words."""
    answer, tries = shown.answer, shown.found.tries
    state = answer.state or "none"
    text = Text()
    text.append(f"{mark_of(state)} {state}", style_of(state))
    if tries:
        last = tries[-1]
        parts = [f"try {last.try_number}", _took(last), _exit(last), printable(last.worker)]
        text.append("  ·  " + "  ·  ".join(part for part in parts if part))
    zone = ZoneInfo(answer.timezone)
    for reason in answer.reasons[:2]:
        text.append("\n" + printable(reason.text(zone)), style_of(state))
    return text


def _took(one: Try) -> str:
    if one.ended_at is None:
        return "running"
    return duration_text((one.ended_at - one.started_at).total_seconds())


def _exit(one: Try) -> str:
    if one.signal is not None:
        return f"signal {one.signal}"
    return f"exit code {one.exit_code}" if one.exit_code else ""


def _memory(size: int | None) -> str:
    return f"{size / 2**20:.0f} MB" if size is not None else ""


def _cpu(seconds: float | None) -> str:
    return duration_text(seconds) if seconds is not None else ""
