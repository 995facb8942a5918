"""One run: its tasks and facts, what changed in the DAG before it, and since the last success."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

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
from flow.wording.cells import duration_text, text_of
from flow.wording.differences import change, differences
from flow.wording.differences import describe as describe_diff
from flow.wording.moments import lasting, took
from flow.wording.why import describe
from flow_tui import targets
from flow_tui.action import Action
from flow_tui.command import command
from flow_tui.looking import opened
from flow_tui.looks import mark_of, style_of, word_of
from flow_tui.paned import PanedView
from flow_tui.screens.event_list import EVENT_COLUMNS, event_key
from flow_tui.screens.reason_lines import reason_lines
from flow_tui.sentences import joined
from flow_tui.targets import Kind, Target
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
    Column[Task]("took", lambda one: took(one.started_at, one.ended_at), rank=1, right=True),
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


class RunScreen(PanedView):
    """Opens on the list of its tasks."""

    KINDS = frozenset({Kind.RUN, Kind.TASK, Kind.PANES})
    STILL = frozenset({"version", "compare"})

    DEFAULT_CSS = """
    RunScreen #about { height: auto; max-height: 5; padding: 0 1; }
    """

    def __init__(self, dag_id: str, run_id: str) -> None:
        super().__init__()
        self._names = dag_id, run_id
        self._details: Shown | None = None

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
        match self.shown:
            case "tasks":
                return opened(targets.run(dag_id, run_id))
            case "why":
                return command("why", dag_id, run_id)
            case "version":
                return command("dags", "diff", dag_id, *map(str, self._versions))
            case "compare":
                return command("compare", dag_id, run_id)
            case "events":
                return command("events", dag_id, run_id)
        return command("runs", "show", dag_id, run_id)

    @property
    def _versions(self) -> tuple[int, ...]:
        """The version before the run's, and the run's."""
        version = self._details.details.run.version if self._details else 0
        return (version - 1, version) if version > 1 else ()

    def targets(self) -> Sequence[Target]:
        if self._details is None:
            return []
        chosen: list[Task] = []
        if self.shown == "tasks":
            chosen = self.query_one("#pane-tasks", Table).chosen
        found = [targets.task(*self._names, _name(one), one.state, held=one.held) for one in chosen]
        return found or [self._run]

    @property
    def _run(self) -> Target:
        assert self._details is not None
        details = self._details.details
        return targets.run(*self._names, details.run.state, paused=details.paused)

    def targets_of(self, action: Action) -> Sequence[Target]:
        """What is done to runs only is done to this one, wherever the cursor is."""
        if Kind.RUN in action.kinds and Kind.TASK not in action.kinds:
            return [self._run] if self._details else []
        return super().targets_of(action)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    async def load_all(self) -> None:
        self._details = shown = await self.read(self._read)
        self.query_one("#about", Static).update(_about(shown, self.flow.now()))
        self.query_one("#pane-tasks", Table).show(shown.tasks)
        self.page("facts").show(_facts(shown.details))
        self.page("why").show(describe(shown.answer))

    async def load_pane(self, name: str) -> None:
        match name:
            case "version":
                await self._load_version()
            case "compare":
                found = await self.read(lambda at: run_comparison.compare(at, *self._names))
                self.page(name).show(_comparison(found))
            case "events":
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

    async def _load_version(self) -> None:
        if not self._versions:
            self.page("version").show(["this is the first version of the DAG"])
            return
        dag_id, _ = self._names
        before, after = self._versions
        found = await self.read(partial(dag_diff.diff, dag_id=dag_id, first=before, second=after))
        self.page("version").show(describe_diff(found))

    # ── actions ──────────────────────────────────────────────────────────────────────────────────

    def has(self, action: Action) -> bool:
        return super().has(action) and (action.id != "app.open" or self.shown == "tasks")

    def do_app_open(self) -> None:
        """Open the task under the cursor."""
        if self.shown == "tasks":
            super().do_app_open()

    def do_run_details(self) -> None:
        """The facts."""
        self.panes.show("facts")


def _about(shown: Shown, now: datetime) -> Text:
    """State, duration and version, and how many tasks are in each state; below it why."""
    run = shown.details.run
    paused = "paused" if shown.details.paused else None
    lasted = lasting(run.started_at, run.ended_at, now)
    text = Text.assemble(
        word_of(run.state),
        f" · {joined(paused, run.run_type, lasted, f'version {run.version}')} ·",
    )
    for state, number in shown.details.tasks.items():
        text.append(f" {mark_of(state)} {number} ", style_of(state))
    if run.state != RunState.SUCCESS:
        for line in reason_lines(shown.answer, 2):
            text.append(f"\n{line}", style_of(run.state))
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
        "took": took(run.started_at, run.ended_at),
        "version": str(run.version),
        "backfill": str(run.backfill_id or ""),
        "note": run.note or "",
        "conf": json.dumps(run.conf, indent=2, ensure_ascii=False) if run.conf else "",
    }
    return fields({name: value for name, value in values.items() if value and value != "-"})


def _comparison(found: Comparison) -> list[str]:
    before, after = found.before.run, found.after.run
    lines = [_side(before), f"→ {_side(after)}", ""]
    if found.versions.before.number != found.versions.after.number:
        lines += [*differences(found.versions.differences), ""]
    changed = [line for field in (*found.conf, *found.params) for line in change(field)]
    lines += [*changed, ""] if changed else []
    lines += [_pair(pair) for pair in found.tasks if pair.differs]
    if not any(pair.differs for pair in found.tasks):
        lines.append("every task ended in the same way, in about the same time")
    return lines


def _side(run: Run) -> str:
    lasted = took(run.started_at, run.ended_at)
    return f"{run.run_id} ({run.state}{', ' if lasted else ''}{lasted})"


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
