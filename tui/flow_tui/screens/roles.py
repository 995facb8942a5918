"""Parsers, schedulers, workers and triggerers: whether they live, and what they do."""

from __future__ import annotations

from collections.abc import Sequence

from flow.ops import status
from flow.ops.status import ProcessStatus
from flow.wording.cells import text_of
from flow.wording.moments import length
from flow_tui.filters import Texts
from flow_tui.listing import Listing, by
from flow_tui.screens import process_cells
from flow_tui.sentences import joined
from flow_tui.targets import Kind, Target
from flow_tui.widgets.table import Cell, Column, Piece


class RolesScreen(Listing[ProcessStatus]):
    """The table of all processes that have not ended."""

    KINDS = frozenset({Kind.ROLE})
    IN_VIEW = "roles"
    FIELDS = ("is", "host", "queue", "version")
    EMPTY = "nothing lives: `flow up` starts everything on this machine"

    def columns(self) -> Sequence[Column[ProcessStatus]]:
        return (
            Column("", process_cells.mark, widest=1, ordered=False),
            Column("role", lambda one: Piece(one.process.role, "bold")),
            Column("state", process_cells.state),
            Column(
                "heard of",
                process_cells.heard,
                right=True,
                sort=lambda one: one.process.heartbeat_age_s,
            ),
            Column("slots used", process_cells.slots_bar, sort=lambda one: one.process.used),
            Column("queues", _queues, rank=2, widest=40),
            Column("up for", self._up_for, rank=1, right=True, sort=_started),
            Column("version", lambda one: one.process.version, rank=3),
            Column("host", lambda one: one.process.host, widest=40, sort=by(_host)),
            Column("pid", lambda one: str(one.process.pid), right=True, sort=_pid),
        )

    def key_of(self, row: ProcessStatus) -> tuple[str, str, int]:
        return process_cells.key(row)

    def texts(self, row: ProcessStatus) -> Texts:
        process = row.process
        flags = {
            "healthy": row.healthy,
            "silent": not row.healthy,
            "draining": process.draining,
            "full": process.slots > 0 and process.used >= process.slots,
        }
        return Texts.of(
            f"{process.role} {process.host}:{process.pid}",
            flags,
            host=process.host,
            queue=process.queues,
            version=process.version,
        )

    def about(self, row: ProcessStatus) -> str:
        process = row.process
        silent = None
        if not row.healthy:
            silent = "no heartbeat: when it does not come back, its tasks are given to others"
        draining = (
            "takes nothing new on, and ends when its tasks have" if process.draining else None
        )
        executor = f"executor {process.executor}" if process.executor else None
        queues = f"queues {', '.join(process.queues)}" if process.queues else None
        started = f"started {text_of(process.started_at)}"
        return joined(silent, draining, started, executor, queues, f"version {process.version}")

    async def load(self) -> None:
        self.show(await self.read_rows(status.processes))

    def targets(self) -> Sequence[Target]:
        return [process_cells.target(one) for one in self.table.chosen]

    def do_app_open(self) -> None:
        """There is no more to see of a process than stands here."""
        self.notify("its line below says all; its log: journalctl, or where flow up runs")

    @property
    def path(self) -> tuple[str, ...]:
        return ("Roles",)

    def _up_for(self, one: ProcessStatus) -> Cell:
        return length((self.flow.now() - one.process.started_at).total_seconds())


def _queues(one: ProcessStatus) -> Cell:
    return ", ".join(one.process.queues)


def _started(one: ProcessStatus) -> float:
    return -one.process.started_at.timestamp()


def _host(one: ProcessStatus) -> str:
    return one.process.host


def _pid(one: ProcessStatus) -> int:
    return one.process.pid
