"""Everything about a DAG: what `flow dags show` says."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from flow.ops import dags
from flow.wording.dags import describe
from flow_tui.command import command
from flow_tui.dialogs.text import TextDialog


class DetailsDialog(TextDialog):
    """Schedule, tasks, next runs, versions and warnings of a DAG."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("d", "dismiss", show=False)]

    def __init__(self, dag_id: str) -> None:
        super().__init__(
            command("dags", "show", dag_id),
            lambda deployment: describe(dags.show(deployment, dag_id)),
        )
