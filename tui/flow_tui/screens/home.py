"""The deployment at a glance: what lives, what runs, what failed, what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from textual.app import ComposeResult
from textual.containers import Grid, Vertical
from textual.geometry import Size
from textual.widgets import Static

from flow.ops import overview
from flow.ops.overview import LatestFailure, Overview
from flow.ops.status import Pool, ProcessStatus
from flow.store.read.activity import Due
from flow.store.read.dags import FileError
from flow.wording.cells import counted, printable
from flow.wording.moments import ago, ahead
from flow.wording.run_names import brief
from flow_tui import targets
from flow_tui.beginning import SHOWN
from flow_tui.looks import mark_of, style_of
from flow_tui.screens import file_cells, pool_bars, process_cells
from flow_tui.targets import Kind, Target
from flow_tui.view import AGES, View
from flow_tui.widgets.panel import Panel
from flow_tui.widgets.pulse import Pulse
from flow_tui.widgets.table import Column, Piece

_NOBODY: Final = "nothing lives: start `flow up`"
_IDLE: Final = "nothing: no DAG with a schedule is active"


class HomeScreen(View):
    """Panels, all under one cursor; enter opens what it is on."""

    DEFAULT_CSS = """
    HomeScreen #problems { height: auto; max-height: 4; padding: 0 2; color: $error; display: none;
                           text-style: bold; }
    HomeScreen #problems.warn { color: $warning; text-style: none; }
    HomeScreen Grid { grid-size: 2; grid-columns: 1fr 1fr; grid-rows: 7 1fr 6; height: 1fr; }
    HomeScreen #failures { column-span: 2; }
    HomeScreen #now { border: round $foreground 30%; border-title-color: $text-muted; }
    HomeScreen #now Panel { border: none; }
    HomeScreen.tall Grid { grid-rows: 11 1fr 11; }
    HomeScreen.wide Grid { grid-columns: 2fr 3fr; }
    """
    KINDS = frozenset({Kind.RUN, Kind.TASK, Kind.DAG, Kind.FILE, Kind.POOL, Kind.ROLE})
    IN_VIEW = "home"

    def content(self) -> ComposeResult:
        self._fit(self.app.size)
        yield Static(id="problems", markup=False)
        with Grid():
            yield Panel("roles", "roles", _ROLES, process_cells.key, empty=_NOBODY)
            with Vertical(id="now"):
                yield Pulse(self.flow.now)
                yield Panel("pools", "pools", _POOLS, lambda pool: pool.name, empty="no pool")
            yield Panel(
                "failures",
                "latest failures",
                self._failure_columns(),
                lambda one: one[:3],
                empty="nothing has failed",
            )
            yield Panel(
                "errors",
                "import errors",
                _ERRORS,
                lambda one: (one.file, one.error),
                empty="every DAG file can be imported",
            )
            yield Panel(
                "due", "starts next", self._due_columns(), lambda one: one.dag_id, empty=_IDLE
            )

    def on_mount(self) -> None:
        self.query_one("#now").border_title = "now"
        self.query_one("#failures").focus()
        self.set_interval(AGES, self._draw_ages)
        if "home" in self.flow.begun:
            self._take(self.flow.begun.pop("home"))
            self.read_already()

    def on_resize(self) -> None:
        self._fit(self.size)

    def _fit(self, size: Size) -> None:
        self.set_class(size.height >= 36, "tall")
        self.set_class(size.width >= 150, "wide")

    async def load(self) -> None:
        self._take(await self.read(lambda deployment: overview.show(deployment, SHOWN)))

    def _take(self, found: Overview) -> None:
        self.query_one(Pulse).add(found)
        self._show("roles", found.processes)
        self._show("pools", sorted(found.status.pools, key=pool_bars.fullness, reverse=True))
        self._show("failures", found.failures)
        self._show("errors", found.errors.rows)
        self._show("due", found.due)
        self.query_one("#errors").border_title = _counted("import errors", found)
        self._tell_problems(found)
        if not self._loaded:
            self._begin(found)

    def targets(self) -> Sequence[Target]:
        panel = self.focused
        if not isinstance(panel, Panel) or panel.current is None:
            return ()
        found = _target(panel.current)
        return () if found is None else (found,)

    @property
    def path(self) -> tuple[str, ...]:
        return ("Home",)

    def on_descendant_focus(self) -> None:
        self.update_hints()

    def do_app_open(self) -> None:
        """Open what the cursor is on; a process on the screen of all of them."""
        found = self.targets()
        if found and found[0].kind is Kind.ROLE:
            self.flow.switch_mode("roles")
        elif found:
            self.flow.open(found[0])

    def do_app_filter(self) -> None:
        """Find a DAG."""
        self.flow.to_filter = True
        self.flow.switch_mode("dags")

    def _show(self, name: str, rows: Sequence[Any]) -> None:
        self.query_one(f"#{name}", Panel).show(rows)

    def _begin(self, found: Overview) -> None:
        """The cursor begins where something is wrong."""
        first = "failures" if found.failures else "errors" if found.errors.rows else "due"
        if found.status.problems or not self.query_one(f"#{first}", Panel).rows:
            first = "roles"
        self.query_one(f"#{first}").focus()

    def _tell_problems(self, found: Overview) -> None:
        lines = [*found.status.problems, *found.status.warnings]
        told = self.query_one("#problems", Static)
        told.set_class(not found.status.problems, "warn")
        told.display = bool(lines)
        told.update("\n".join(f"! {printable(line)}" for line in lines))
        self.tell(_summary(found))

    def _draw_ages(self) -> None:
        self.query_one(Pulse).refresh()
        for panel in self.query(Panel):
            panel.refresh_lines_seen()

    def _failure_columns(self) -> tuple[Column[LatestFailure], ...]:
        return (
            Column("", lambda one: Piece(mark_of("failed"), style_of("failed")), widest=1),
            Column("dag", lambda one: Piece(one.dag_id, "bold"), widest=40, enough=16),
            Column("task", lambda one: one.task or "", widest=40, enough=16),
            Column("run", lambda one: brief(one.run_id), widest=46),
            Column(
                "ended", lambda one: Piece(ago(one.ended_at, self.flow.now()), "dim"), right=True
            ),
            Column("reason", lambda one: one.reason or "", widest=70, prose=True, enough=20),
        )

    def _due_columns(self) -> tuple[Column[Due], ...]:
        return (
            Column("when", lambda one: ahead(one.next_run_at, self.flow.now()), right=True),
            Column("dag", lambda one: Piece(one.dag_id, "bold"), widest=60),
            Column("interval", lambda one: f"{one.data_interval_start:%F %R}", rank=1),
        )


def _counted(title: str, found: Overview) -> str:
    total = found.errors.total.counted
    return f"{title} ({total})" if total else title


def _summary(found: Overview) -> str:
    """What goes on, in words."""
    load, queue = found.load, found.status.queue
    numbers = (
        (load.running_runs, "run", "running"),
        (load.queued_runs, "run", "queued"),
        (queue.scheduled, "task", "waiting for a slot"),
        (queue.queued, "task", "waiting for a worker"),
    )
    parts = [f"{counted(number, noun)} {what}" for number, noun, what in numbers if number]
    return ", ".join(parts) or "nothing is running"


def _target(row: object) -> Target | None:
    if isinstance(row, LatestFailure):
        if row.task is None:
            return targets.run(row.dag_id, row.run_id, "failed")
        return targets.task(row.dag_id, row.run_id, row.task, "failed")
    if isinstance(row, FileError):
        return Target(Kind.FILE, (row.file,))
    if isinstance(row, Due):
        return targets.dag(row.dag_id, paused=False)
    if isinstance(row, Pool):
        return Target(Kind.POOL, (row.name,))
    if isinstance(row, ProcessStatus):
        return process_cells.target(row)
    return None


_ROLES: Final = (
    Column[ProcessStatus]("", process_cells.mark, widest=1),
    Column[ProcessStatus]("role", lambda one: Piece(one.process.role, "bold")),
    Column[ProcessStatus]("slots", process_cells.slots, rank=1),
    Column[ProcessStatus]("heard", process_cells.heard, rank=2, right=True),
    Column[ProcessStatus]("where", process_cells.where, rank=3, widest=40),
    Column[ProcessStatus]("version", lambda one: Piece(one.process.version, "dim"), rank=4),
)
_POOLS: Final = (
    Column[Pool]("pool", lambda pool: Piece(pool.name, "bold"), widest=30),
    Column[Pool]("use", lambda pool: pool_bars.bar(pool, 10)),
    Column[Pool]("numbers", pool_bars.numbers, rank=1),
)
_ERRORS: Final = (
    Column[FileError]("file", file_cells.place, widest=34),
    Column[FileError]("error", lambda one: one.error, widest=100, prose=True),
)
