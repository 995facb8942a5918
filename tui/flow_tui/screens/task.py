"""One task of a run: its log, its tries, why it is as it is, what it rendered and pushed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from flow.errors import DatabaseError, FlowError
from flow.ops import events, rendering, tasks, why, xcoms
from flow.ops.deployment import Deployment
from flow.ops.tasks import TriesOfTask
from flow.ops.why import Answer
from flow.store.read.tasks import Try
from flow.wording.cells import printable, text_of
from flow.wording.moments import lasting
from flow.wording.tries import UNRUN
from flow.wording.why import describe
from flow_tui import targets
from flow_tui.action import Action
from flow_tui.background import start
from flow_tui.command import command
from flow_tui.dialogs.search import SearchDialog
from flow_tui.looks import style_of, word_of
from flow_tui.paned import PanedView
from flow_tui.screens.event_list import EVENT_COLUMNS, event_key
from flow_tui.screens.reason_lines import reason_lines
from flow_tui.screens.task_log import TaskLog
from flow_tui.screens.try_list import TRY_COLUMNS, XCOM_COLUMNS, exit_of
from flow_tui.sentences import joined, of_error
from flow_tui.targets import Kind, Target
from flow_tui.widgets.log_view import LogView
from flow_tui.widgets.page import Page, fields
from flow_tui.widgets.panes import Panes
from flow_tui.widgets.table import Table


class Shown(NamedTuple):
    """What is read of a task."""

    found: TriesOfTask
    answer: Answer


class TaskScreen(PanedView):
    """Opens on the log of the last try, at its end."""

    KINDS = frozenset({Kind.TASK, Kind.LOG})
    TAKEN = frozenset({"app.filter", "task.log"})  # its log is searched, and has their keys
    STILL = frozenset({"rendered"})

    DEFAULT_CSS = """
    TaskScreen #about { height: auto; max-height: 5; padding: 0 1; }
    """

    def __init__(self, dag_id: str, run_id: str, reference: str) -> None:
        super().__init__()
        self._names = dag_id, run_id, reference
        self._details: Shown | None = None

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
        match self.shown:
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
        state = self._details.answer.state if self._details else None
        held = self._details is not None and any(
            reason.code == "held" for reason in self._details.answer.reasons
        )
        return [targets.task(*self._names, state, held=held)]

    def targets_of(self, action: Action) -> Sequence[Target]:
        """What is done to logs is done to that of this task."""
        if Kind.LOG in action.kinds:
            return [Target(Kind.LOG, self._names)]
        return super().targets_of(action)

    @property
    def _log(self) -> TaskLog:
        return self.query_one(TaskLog)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    async def load_all(self) -> None:
        self._details = await self.read(self._read)
        found = self._details.found
        self.query_one("#about", Static).update(_about(self._details, self.flow.now()))
        self.query_one("#pane-tries", Table).show(list(reversed(found.tries)))
        self.page("why").show(describe(self._details.answer))
        self._log.take(found)

    async def load_pane(self, name: str) -> None:
        match name:
            case "rendered":
                start(self, self._load_rendered, group="render", exclusive=True)
            case "xcom":
                await self._load_xcoms()
            case "events":
                await self._load_events()

    def _read(self, deployment: Deployment) -> Shown:
        return Shown(tasks.tries(deployment, *self._names), why.why(deployment, *self._names))

    async def _load_xcoms(self) -> None:
        dag_id, run_id, reference = self._names
        found = await self.read(lambda at: xcoms.page(at, dag_id, run_id, reference))
        self.query_one("#pane-xcom", Table).show(found.page.rows)

    async def _load_events(self) -> None:
        dag_id, run_id, _ = self._names
        assert self._details is not None
        task = self._details.found.reference
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
        page = self.page("rendered")
        page.show(["rendering the task's fields, in a process that imports its DAG file …"])
        dag_id, run_id, reference = self._names
        try:
            found = await self.flow.session.read_slowly(
                lambda at: rendering.render(at, dag_id, reference, run_id)
            )
        except DatabaseError as error:
            self.unread("rendered")
            self.failed(error)
            return
        except FlowError as error:
            page.show(of_error(error))
            return
        values = {
            name: value if isinstance(value, str) else text_of(value)
            for name, value in found.fields.items()
        }
        page.show(fields(values) if values else ["this task has no template fields"])

    # ── actions ──────────────────────────────────────────────────────────────────────────────────

    def has(self, action: Action) -> bool:
        match action.id:
            case "app.open":
                return self.shown == "tries"
            case "log.follow":
                return self._log.grows and not self._log.view.following
        return super().has(action)

    @on(LogView.Changed)
    def log_moved(self) -> None:
        """It is followed, or not any more."""
        self.update_hints()

    def do_item_why(self) -> None:
        """Why it is as it is."""
        self.panes.show("why")

    def do_log_older(self) -> None:
        """The log of the try before."""
        self._other_try(-1)

    def do_log_newer(self) -> None:
        """The log of the next try."""
        self._other_try(1)

    def _other_try(self, by: int) -> None:
        if self.shown == "log":
            self._log.step(by)
        else:
            self.panes.step(by)

    def do_app_open(self) -> None:
        """Of a try in the list, its log."""
        chosen: Try | None = self.query_one("#pane-tries", Table).current
        if self.shown == "tries" and chosen is not None:
            self.panes.show("log")
            self._log.choose(chosen.try_number)

    def do_log_follow(self) -> None:
        """To the end of the log, and on with it."""
        self.panes.show("log")
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
            self.do_log_search()
        else:
            self._log.find_next(by)

    def do_log_search(self) -> None:
        """Search the log."""
        memory = self.flow.memory
        before = (
            self._log.view.search.letters if self._log.view.search else memory.get("log.search")
        )
        self.panes.show("log")
        self.app.push_screen(SearchDialog(before, memory.history("log.search")), self._search_for)

    def _search_for(self, letters: str | None) -> None:
        if letters is None:
            return
        if letters:
            self.flow.memory.set("log.search", letters)
            self.flow.memory.add("log.search", letters)
        self._log.search(letters)


def _about(shown: Shown, now: datetime) -> Text:
    """State, try, duration and worker; below it why, in plain words."""
    state = shown.answer.state or "none"
    text = Text.assemble(word_of(state))
    for last in shown.found.tries[-1:]:
        lasted = lasting(last.started_at, last.ended_at, now)
        worker = printable(last.worker)
        number = f"{UNRUN if shown.found.unrun else ''}try {last.try_number}"
        text.append(f" · {joined(number, lasted, exit_of(last), worker)}")
    for line in reason_lines(shown.answer, 2):
        text.append(f"\n{line}", style_of(state))
    return text
