"""DAG files that cannot be imported, and timetables that fail."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from flow.ops import dags
from flow.store.read.dags import FileError
from flow.wording.cells import text_of
from flow.wording.moments import ago
from flow_tui.filters import Texts
from flow_tui.listing import Listing, by
from flow_tui.screens import file_cells
from flow_tui.sentences import joined
from flow_tui.targets import Kind, Target
from flow_tui.widgets.table import Cell, Column, Piece


class ErrorsScreen(Listing[FileError]):
    """The table of what is wrong with files; enter shows one with its lines and traceback."""

    KINDS = frozenset({Kind.FILE})
    IN_VIEW = "errors"
    FIELDS = ("file", "dag")
    EMPTY = "every DAG file can be imported"

    def columns(self) -> Sequence[Column[FileError]]:
        return (
            Column("", lambda one: Piece("✗", "bold red"), widest=1, ordered=False),
            Column("file", file_cells.place, widest=40, sort=by(lambda one: one.file)),
            Column("since", self._since, right=True, sort=lambda one: one.since),
            Column(
                "error",
                lambda one: one.error,
                widest=120,
                prose=True,
                sort=by(lambda one: one.error),
            ),
            Column("dags", lambda one: " ".join(one.dags), rank=1, widest=40),
        )

    def key_of(self, row: FileError) -> Hashable:
        return row.file, row.error

    def texts(self, row: FileError) -> Texts:
        return Texts.of(f"{row.file} {row.error}", file=row.file, dag=row.dags)

    def about(self, row: FileError) -> str:
        place = f"{row.file}:{row.line}" if row.line else row.file
        kept = None
        if row.dags:
            kept = f"{', '.join(row.dags)} goes on in the last version that could be imported"
        return joined(place, f"since {text_of(row.since)}", kept)

    async def load(self) -> None:
        self.show(await self.read_rows(lambda deployment: dags.errors(deployment).rows))

    def targets(self) -> Sequence[Target]:
        return [Target(Kind.FILE, (one.file,)) for one in self.table.chosen]

    @property
    def path(self) -> tuple[str, ...]:
        return ("Errors",)

    def _since(self, one: FileError) -> Cell:
        return Piece(ago(one.since, self.now()), "dim")
