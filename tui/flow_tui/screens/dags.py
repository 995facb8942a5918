"""Every DAG, the states of its last runs, and when it runs next."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

from flow.errors import DatabaseError
from flow.ops import dag_activity, dags
from flow.ops.dag_activity import Standing
from flow.ops.deployment import Deployment
from flow.store.read.activity import LastRun
from flow.store.read.dags import Dag
from flow.wording.cells import text_of
from flow.wording.moments import ahead
from flow_tui import targets
from flow_tui.background import start
from flow_tui.beginning import AT_ONCE
from flow_tui.filters import Prepared, Texts
from flow_tui.listing import Listing, by
from flow_tui.looks import mark_of, style_of
from flow_tui.sentences import joined
from flow_tui.targets import Kind, Target
from flow_tui.widgets.table import Cell, Column, Piece

REREAD: Final = 10.0
"""Seconds between two times that all DAGs are read; those in sight are read whenever something
changes."""
RUNS: Final = 24
"""Last runs that are read of a DAG, and shown where there is room."""
_RUNS_WHERE_NARROW: Final = 10
_WIDE: Final = 110


class DagsScreen(Listing[Dag]):
    """The table of all DAGs."""

    KINDS = frozenset({Kind.DAG})
    IN_VIEW = "dags"
    FIELDS = ("is", "tag", "owner", "file")
    LOOSE = True
    EMPTY = "no DAG yet: put a file into the DAG folder; flow dags errors says what is wrong there"

    def __init__(self) -> None:
        super().__init__()
        self._dags: dict[str, Prepared[Dag]] = {}
        self._read_at = float("-inf")
        self._standing: Standing | None = None
        """Only where the filter asks for it."""
        self._runs: dict[str, list[LastRun]] = {}
        self._reading_runs = False

    # ── what is shown ────────────────────────────────────────────────────────────────────────────

    def columns(self) -> Sequence[Column[Dag]]:
        return (
            Column("", _mark, widest=1, ordered=False),
            Column("dag", _name, widest=70, enough=28, sort=by(lambda dag: dag.dag_id)),
            Column("last runs", self._cells, right=True, widest=RUNS, ordered=False),
            Column("next run", self._next, rank=1, sort=lambda dag: dag.next_run_at),
            Column("schedule", lambda dag: dag.schedule, rank=2, widest=34, prose=True, enough=18),
            Column("owner", lambda dag: dag.owner, rank=3, widest=16, sort=by(lambda d: d.owner)),
            Column("tags", lambda dag: " ".join(dag.tags), rank=4, widest=28),
        )

    def key_of(self, row: Dag) -> Hashable:
        return row.dag_id

    def texts(self, row: Dag) -> Texts:
        flags = self._flags(row)
        return Texts.of(row.dag_id, flags, tag=row.tags, owner=row.owner, file=row.file)

    def about(self, row: Dag) -> str:
        if row.paused:
            coming = f"paused {row.pause_reason}" if row.pause_reason else "paused: U unpauses it"
        else:
            coming = f"next run {text_of(row.next_run_at)}" if row.next_run_at else "no next run"
        broken = "its file cannot be imported: 6 shows why" if row.has_import_error else None
        return joined(broken, coming, row.file, row.schedule, " ".join(row.tags), row.owner)

    def targets(self) -> Sequence[Target]:
        return [targets.dag(dag.dag_id, paused=dag.paused) for dag in self.table.chosen]

    @property
    def path(self) -> tuple[str, ...]:
        return ("DAGs",)

    def _flags(self, dag: Dag) -> dict[str, bool]:
        standing = self._standing
        return {
            "paused": dag.paused,
            "active": not dag.paused,
            "broken": dag.has_import_error,
            "failed": standing is not None and dag.dag_id in standing.failed,
            "running": standing is not None and dag.dag_id in standing.running,
        }

    def _next(self, dag: Dag) -> Cell:
        if dag.paused:
            return Piece("paused", "dim")
        return ahead(dag.next_run_at, self.now()) or Piece("-", "dim")

    def _cells(self, dag: Dag) -> Cell:
        shown = RUNS if self.size.width >= _WIDE else _RUNS_WHERE_NARROW
        known = self._runs.get(dag.dag_id, [])[-shown:]
        return [
            Piece(" " * (shown - len(known))),  # every row takes the same room, known or not
            *(Piece(mark_of(run.state), style_of(run.state)) for run in known),
        ]

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    def on_mount(self) -> None:
        # Rows that come into sight want their last runs.
        self.watch(self.table, "scroll_y", self._sight_changed, init=False)
        if "dags" in self.flow.begun:
            self.show([Prepared(dag, self.texts(dag)) for dag in self.flow.begun.pop("dags")])

    async def load(self) -> None:
        if time.monotonic() - self._read_at >= REREAD:
            await self._read_all()
        else:
            await self._read_in_sight()
        await self._read_runs(self._in_sight())

    def filter_changed(self) -> None:
        if self._wants_standing() and self._standing is None:
            self._read_at = float("-inf")
            self.refresh_data()
        self._sight_changed()

    def _wants_standing(self) -> bool:
        """Whether the filter asks for what only the runs of all DAGs tell."""
        return any(
            term.field == "is" and term.text in ("failed", "running")
            for term in self._narrowing.filter.terms
        )

    async def _read_all(self) -> None:
        wanted = self._wants_standing()
        self._standing = await self.read(dag_activity.standing) if wanted else None
        found: dict[str, Prepared[Dag]] = {}
        last = ""
        while True:
            rows = await self._read_prepared(dags.behind, last, AT_ONCE)
            found |= {one.row.dag_id: one for one in rows}
            if not last and not self._dags:
                self.show(list(found.values()))
                await self._read_runs(self._in_sight())
            if len(rows) < AT_ONCE:
                break
            last = rows[-1].row.dag_id
        self._read_at = time.monotonic()
        self._take(found)

    async def _read_in_sight(self) -> None:
        dag_ids = self._in_sight()
        found = {one.row.dag_id: one for one in await self._read_prepared(dags.some, dag_ids)}
        now = self._dags | found
        for dag_id in set(dag_ids) - found.keys():
            del now[dag_id]
        self._take(now)

    async def _read_prepared(
        self, operation: Callable[..., Sequence[Dag]], *words: Any
    ) -> list[Prepared[Dag]]:
        """DAGs, prepared for the filter; those that are as they were are the same objects."""
        known, standing = self._dags, self._standing

        def rows(deployment: Deployment) -> list[Prepared[Dag]]:
            return [
                known[dag.dag_id]
                if dag.dag_id in known and known[dag.dag_id].row == dag and not standing
                else Prepared(dag, self.texts(dag))
                for dag in operation(deployment, *words)
            ]

        return await self.read(rows)

    def _take(self, now: dict[str, Prepared[Dag]]) -> None:
        """Show these, if they differ from what is shown."""
        if now != self._dags or not self._loaded:
            self._dags = now
            self.show(list(now.values()))

    def _in_sight(self) -> list[str]:
        return [dag.dag_id for dag in self.table.in_sight]

    async def _read_runs(self, dag_ids: Sequence[str]) -> None:
        if not dag_ids:
            return
        found: Mapping[str, list[LastRun]] = await self.read(
            lambda deployment: dag_activity.last_runs(deployment, dag_ids, RUNS)
        )
        if any(self._runs.get(dag_id) != runs for dag_id, runs in found.items()):
            self._runs.update(found)
            self.table.refresh_lines_seen()

    def _sight_changed(self) -> None:
        if not self._reading_runs:
            self._reading_runs = True
            start(self, self._read_new_runs, group="runs")

    async def _read_new_runs(self) -> None:
        """Read the last runs of what has come into sight, until they are known."""
        try:
            while unknown := [one for one in self._in_sight() if one not in self._runs]:
                await self._read_runs(unknown)
        except DatabaseError as error:
            self.failed(error)
        finally:
            self._reading_runs = False


def _mark(dag: Dag) -> Cell:
    if dag.has_import_error:
        return Piece("!", "bold red")
    return Piece("‖", "yellow") if dag.paused else " "


def _name(dag: Dag) -> Cell:
    return Piece(dag.dag_id, "dim" if dag.paused else "bold")
