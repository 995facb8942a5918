"""One run: its tasks and facts, what changed in the DAG before it, and since the last success."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from flow.errors import FlowError
from flow.ops import dag_diff, events, run_comparison, runs, tasks, why
from flow.ops.deployment import Deployment
from flow.ops.run_comparison import Comparison, TaskPair
from flow.ops.runs import RunDetails
from flow.ops.why import Answer
from flow.states import RunState
from flow.store.read.events import Event
from flow.store.read.runs import Run
from flow.store.read.tasks import Task
from flow.task_reference import task_reference
from flow.wording.cells import duration_text, printable, text_of
from flow.wording.differences import change, differences
from flow.wording.run_names import brief
from flow.wording.why import describe
from flow_tui.action import Action
from flow_tui.background import start
from flow_tui.command import command
from flow_tui.looks import mark_of, style_of
from flow_tui.screens.event_list import EVENT_COLUMNS, event_key
from flow_tui.targets import Kind, Target
from flow_tui.view import View
from flow_tui.widgets.page import Page, fields
from flow_tui.widgets.panes import Panes
from flow_tui.widgets.table import Column, Piece, Table

TASK_COLUMNS: Final = (
    Column[Task](
        "task",
        lambda one: [Piece(mark_of(one.state), style_of(one.state)), Piece(f" {_name(one)}")],
    ),
    Column[Task]("state", lambda one: Piece(one.state, style_of(one.state))),
    Column[Task]("try", lambda one: f"{one.try_number}/{one.max_tries}", rank=2, right=True),
    Column[Task]("took", lambda one: _took(one), rank=1, right=True),
    Column[Task]("started", lambda one: text_of(one.started_at), rank=4),
    Column[Task]("pool", lambda one: one.pool, rank=6),
    Column[Task]("worker", lambda one: one.worker or "", rank=5),
    Column[Task]("operator", lambda one: one.operator or "", rank=3),
)


class Shown(NamedTuple):
    """What is read of a run."""

    details: RunDetails
    tasks: list[Task]
    answer: Answer


class RunScreen(View):
    """Opens on the list of its tasks."""

    KINDS = frozenset({Kind.RUN, Kind.TASK, Kind.PANES})

    DEFAULT_CSS = """
    RunScreen #about { height: auto; max-height: 5; padding: 0 1; }
    """

    def __init__(self, dag_id: str, run_id: str) -> None:
        super().__init__()
        self._names = dag_id, run_id
        self._shown: Shown | None = None

    def content(self) -> ComposeResult:
        yield Static(id="about")
        yield Panes(
            tasks=Table(TASK_COLUMNS, _name, empty="this version of the DAG has no tasks"),
            facts=Page("looking …"),
            why=Page("looking …"),
            version=Page("looking …"),
            compare=Page("looking …"),
            events=Table(EVENT_COLUMNS, event_key, empty="nothing has happened yet"),
        )

    @property
    def path(self) -> tuple[str, ...]:
        return self._names

    @property
    def command(self) -> str:
        dag_id, run_id = self._names
        match self.query_one(Panes).shown:
            case "tasks":
                return command("tasks", "list", dag_id, run_id)
            case "why":
                return command("why", dag_id, run_id)
            case "version":
                return command("dags", "diff", dag_id, *map(str, self._versions))
            case "compare":
                return command("compare", dag_id)
            case "events":
                return command("events", dag_id, run_id)
        return command("runs", "show", dag_id, run_id)

    @property
    def _versions(self) -> tuple[int, ...]:
        """The version before the run's, and the run's."""
        version = self._shown.details.run.version if self._shown else 0
        return (version - 1, version) if version > 1 else ()

    def targets(self) -> Sequence[Target]:
        if self._shown is None:
            return []
        chosen: list[Task] = []
        if self.query_one(Panes).shown == "tasks":
            chosen = self.query_one("#pane-tasks", Table).chosen
        found = [Target(Kind.TASK, (*self._names, _name(one)), one.state) for one in chosen]
        return found or [self._run]

    @property
    def _run(self) -> Target:
        assert self._shown is not None
        details = self._shown.details
        flags = frozenset({"paused"} if details.paused else ())
        return Target(Kind.RUN, self._names, details.run.state, flags)

    def targets_of(self, action: Action) -> Sequence[Target]:
        """What is done to runs only is done to this one, wherever the cursor is."""
        if Kind.RUN in action.kinds and Kind.TASK not in action.kinds:
            return [self._run] if self._shown else []
        return super().targets_of(action)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    async def load(self) -> None:
        self._shown = shown = await self.read(self._read)
        self.query_one("#about", Static).update(_about(shown))
        self.query_one("#pane-tasks", Table).show(shown.tasks)
        self.query_one("#pane-facts", Page).show(_facts(shown.details))
        self.query_one("#pane-why", Page).show(describe(shown.answer))
        if self.query_one(Panes).shown == "events":
            await self._load_events()

    def _read(self, deployment: Deployment) -> Shown:
        return Shown(
            runs.show(deployment, *self._names),
            tasks.list_(deployment, *self._names).tasks,
            why.why(deployment, *self._names),
        )

    async def _load_events(self) -> None:
        asked = events.Asked(*self._names)
        found: list[Event] = await self.read(partial(events.recent, asked=asked))
        self.query_one("#pane-events", Table).show(found)

    @on(Panes.Shown)
    def pane_shown(self, message: Panes.Shown) -> None:
        """Read what only this pane shows."""
        match message.name:
            case "version":
                start(self, self._load_version, group="version", exclusive=True)
            case "compare":
                start(self, self._load_comparison, group="compare", exclusive=True)
            case "events":
                self.refresh_data()
        self.update_hints()

    async def _load_version(self) -> None:
        page = self.query_one("#pane-version", Page)
        if not self._versions:
            page.show(["this is the first version of the DAG"])
            return
        dag_id, _ = self._names
        before, after = self._versions
        try:
            found = await self.read(
                partial(dag_diff.diff, dag_id=dag_id, first=before, second=after)
            )
        except FlowError as error:
            page.show([error.message, error.hint])
            return
        lines = [f"version {before} → {after}", "", *differences(found.differences)]
        page.show([*lines, "the code has changed"] if found.code_changed else lines)

    async def _load_comparison(self) -> None:
        page = self.query_one("#pane-compare", Page)
        try:
            found = await self.read(lambda at: run_comparison.compare(at, *self._names))
        except FlowError as error:
            page.show([error.message, error.hint])
            return
        page.show(_comparison(found))

    # ── actions ──────────────────────────────────────────────────────────────────────────────────

    def do_pane_next(self) -> None:
        """The next pane."""
        self.query_one(Panes).step(1)

    def do_pane_previous(self) -> None:
        """The pane before."""
        self.query_one(Panes).step(-1)

    def do_run_details(self) -> None:
        """The facts."""
        self.query_one(Panes).show("facts")


def _about(shown: Shown) -> Text:
    run, answer = shown.details.run, shown.answer
    text = Text()
    text.append(f"{mark_of(run.state)} {run.state}", style_of(run.state))
    began = f"since {run.started_at:%F %R}" if run.started_at and not run.ended_at else ""
    parts = [run.run_type, began or _took(run), f"version {run.version}"]
    if shown.details.paused:
        parts.append("paused")
    text.append("".join(f"  ·  {part}" for part in parts if part))
    for state, number in shown.details.tasks.items():
        text.append("  ·  " if text.plain[-1] != " " else "")
        text.append(f"{mark_of(state)} {number}  ", style_of(state))
    if run.state != RunState.SUCCESS:
        zone = ZoneInfo(answer.timezone)
        for reason in answer.reasons[:2]:
            text.append("\n" + printable(brief(reason.text(zone))), style_of(run.state))
    return text


def _facts(details: RunDetails) -> Text:
    run = details.run
    values = {
        "run": run.run_id,
        "type": run.run_type,
        "state": run.state,
        "reason": details.reason or "",
        "logical date": text_of(run.logical_date),
        "interval from": text_of(run.data_interval_start),
        "interval to": text_of(run.data_interval_end),
        "queued": text_of(run.queued_at),
        "started": text_of(run.started_at),
        "ended": text_of(run.ended_at),
        "took": _took(run),
        "version": str(run.version),
        "backfill": str(run.backfill_id or ""),
        "note": run.note or "",
        "conf": json.dumps(run.conf, indent=2, ensure_ascii=False) if run.conf else "",
    }
    return fields({name: value for name, value in values.items() if value and value != "-"})


def _comparison(found: Comparison) -> list[str]:
    before, after = found.before.run, found.after.run
    lines = [f"{before.run_id} ({before.state}, {_took(before)})"]
    lines += [f"→ {after.run_id} ({after.state}, {_took(after)})", ""]
    if found.versions.before.number != found.versions.after.number:
        lines += [*differences(found.versions.differences), ""]
    changed = [line for field in (*found.conf, *found.params) for line in change(field)]
    lines += [*changed, ""] if changed else []
    lines += [_pair(pair) for pair in found.tasks if pair.differs]
    if not any(pair.differs for pair in found.tasks):
        lines.append("every task ended in the same way, in about the same time")
    return lines


def _pair(pair: TaskPair) -> str:
    name = task_reference(pair.task_id, pair.map_index)
    sides = [
        f"{one.state} {duration_text(one.duration_s)}"
        if one and one.duration_s is not None
        else one.state
        if one
        else "not there"
        for one in (pair.before, pair.after)
    ]
    slower = f", {pair.outlier}" if pair.outlier else ""
    reason = f": {pair.after.reason}" if pair.after and pair.after.reason else ""
    return f"{name}: {sides[0]} → {sides[1]}{slower}{reason}"


def _name(one: Task) -> str:
    return task_reference(one.task_id, one.map_index)


def _took(one: Run | Task) -> str:
    if one.started_at is None:
        return ""
    if one.ended_at is None:
        return "running"
    return duration_text((one.ended_at - one.started_at).total_seconds())
