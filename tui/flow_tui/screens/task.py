"""One task of a run: its log, its tries, why it is as it is, what it rendered and pushed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from flow.errors import FlowError
from flow.ops import events, rendering, tasks, why, xcoms
from flow.ops.deployment import Deployment
from flow.ops.tasks import TriesOfTask
from flow.ops.why import Answer
from flow.store.read.tasks import Try
from flow.wording.cells import printable, text_of
from flow.wording.run_names import brief
from flow.wording.why import describe
from flow_tui.background import start
from flow_tui.deeds import command
from flow_tui.dialogs.search import SearchDialog
from flow_tui.looks import mark_of, style_of
from flow_tui.screens.event_list import EVENT_COLUMNS, event_key
from flow_tui.screens.task_log import TaskLog
from flow_tui.screens.try_list import TRY_COLUMNS, XCOM_COLUMNS, exit_of, took
from flow_tui.targets import Kind, Target
from flow_tui.view import View
from flow_tui.widgets.page import Page, fields
from flow_tui.widgets.panes import Panes
from flow_tui.widgets.table import Table

_MOST_FOUND: Final = 10_000
_GLANCE: Final = 0.2
"""Seconds between two looks at a log that may grow."""


class Shown(NamedTuple):
    """What is read of a task."""

    found: TriesOfTask
    answer: Answer


class TaskScreen(View):
    """Opens on the log of the last try, at its end."""

    KINDS = frozenset({Kind.TASK, Kind.LOG})

    DEFAULT_CSS = """
    TaskScreen #about { height: auto; max-height: 5; padding: 0 1; }
    """

    def __init__(self, dag_id: str, run_id: str, reference: str) -> None:
        super().__init__()
        self._names = dag_id, run_id, reference
        self._shown: Shown | None = None

    def content(self) -> ComposeResult:
        yield Static(id="about")
        yield Panes(
            log=TaskLog(),
            tries=Table(TRY_COLUMNS, lambda one: one.try_number, empty="it has not started yet"),
            why=Page("looking …"),
            rendered=Page("looking …"),
            xcom=Table(XCOM_COLUMNS, lambda one: one.key, empty="it has pushed nothing"),
            events=Table(EVENT_COLUMNS, event_key, empty="nothing has happened yet"),
        )

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
        wanted = self._log.wanted
        chosen = ("--try", str(wanted)) if wanted is not None else ()
        return command("logs", *self._names, *chosen)

    def targets(self) -> Sequence[Target]:
        state = self._shown.answer.state if self._shown else None
        held = self._shown is not None and any(
            reason.code == "held" for reason in self._shown.answer.reasons
        )
        flags = frozenset({"held"} if held else ())
        return [Target(Kind.TASK, self._names, state, flags)]

    @property
    def _log(self) -> TaskLog:
        return self.query_one(TaskLog)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    async def load(self) -> None:
        self._shown = await self.read(self._read)
        found = self._shown.found
        self.query_one("#about", Static).update(_about(self._shown))
        self.query_one("#pane-tries", Table).show(list(reversed(found.tries)))
        self.query_one("#pane-why", Page).show(describe(self._shown.answer))
        self._log.take(found)
        match self.query_one(Panes).shown:
            case "xcom":
                await self._load_xcoms()
            case "events":
                await self._load_events()

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
        self.update_hints()

    async def _load_xcoms(self) -> None:
        dag_id, run_id, reference = self._names
        page = await self.read(lambda at: xcoms.page(at, dag_id, run_id, reference))
        self.query_one("#pane-xcom", Table).show(page.rows)

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
        if self.query_one(Panes).shown == "log":
            self._log.step(by)
        else:
            self.query_one(Panes).step(by)

    def do_app_open(self) -> None:
        """Of a try in the list, its log."""
        panes = self.query_one(Panes)
        chosen: Try | None = self.query_one("#pane-tries", Table).current
        if panes.shown == "tries" and chosen is not None:
            panes.show("log")
            self._log.choose(chosen.try_number)

    def do_log_follow(self) -> None:
        """To the end of the log, and on with it."""
        self.query_one(Panes).show("log")
        self._log.view.following = True

    def do_log_wrap(self) -> None:
        """Fold long lines, or not."""
        self._log.view.wrapped = not self._log.view.wrapped

    def do_log_next(self) -> None:
        """The next line that fits."""
        self._step(1)

    def do_log_previous(self) -> None:
        """The line before that fits."""
        self._step(-1)

    def _step(self, by: int) -> None:
        if self._log.view.search is None:
            self.do_app_filter()
        else:
            self._log.find_next(by)

    def do_app_filter(self) -> None:
        """Search the log."""
        memory = self.flow.memory
        before = (
            self._log.view.search.letters if self._log.view.search else memory.get("log.search")
        )
        self.query_one(Panes).show("log")
        self.app.push_screen(SearchDialog(before, memory.history("log.search")), self._search_for)

    def _search_for(self, letters: str | None) -> None:
        if letters is None:
            return
        if letters:
            self.flow.memory.set("log.search", letters)
            self.flow.memory.add("log.search", letters)
        self._log.search(letters)


def _about(shown: Shown) -> Text:
    """State, try, duration and worker; below it why, in plain words."""
    answer, tries = shown.answer, shown.found.tries
    state = answer.state or "none"
    text = Text()
    text.append(f"{mark_of(state)} {state}", style_of(state))
    if tries:
        last = tries[-1]
        parts = [f"try {last.try_number}", took(last), exit_of(last), printable(last.worker)]
        text.append("  ·  " + "  ·  ".join(part for part in parts if part))
    zone = ZoneInfo(answer.timezone)
    for reason in answer.reasons[:2]:
        text.append("\n" + printable(brief(reason.text(zone))), style_of(state))
    return text
