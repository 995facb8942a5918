"""Every DAG, the states of its last runs, and when it runs next."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult

from flow.ops import dags
from flow.store.read.dags import Dag
from flow.wording.cells import text_of
from flow_tui import targets
from flow_tui.targets import Kind, Target
from flow_tui.view import View
from flow_tui.widgets.table import Column, Piece, Table

COLUMNS = (
    Column[Dag]("dag", lambda dag: Piece(dag.dag_id, "dim" if dag.paused else "bold")),
    Column[Dag]("schedule", lambda dag: dag.schedule, rank=2, widest=30),
    Column[Dag](
        "next run",
        lambda dag: "paused" if dag.paused else text_of(dag.next_run_at),
        rank=1,
        sort=lambda dag: dag.next_run_at,
    ),
    Column[Dag]("owner", lambda dag: dag.owner, rank=3, widest=16),
    Column[Dag]("tags", lambda dag: ", ".join(dag.tags), rank=4, widest=24),
)


class DagsScreen(View):
    """The table of all DAGs."""

    KINDS = frozenset({Kind.DAG})
    IN_VIEW = "dags"

    def content(self) -> ComposeResult:
        yield Table(
            COLUMNS, lambda dag: dag.dag_id, empty="no DAG yet: put a file into the DAG folder"
        )

    async def load(self) -> None:
        found = await self.read(dags.page)
        self._table_of_dags.show(found.rows)
        self.tell(f"{len(found.rows)}")

    def targets(self) -> Sequence[Target]:
        return [targets.dag(dag.dag_id, paused=dag.paused) for dag in self._table_of_dags.chosen]

    @property
    def path(self) -> tuple[str, ...]:
        return ("DAGs",)

    @property
    def command(self) -> str:
        return "flow dags list"

    @property
    def _table_of_dags(self) -> Table[Dag]:
        return self.query_one(Table)
