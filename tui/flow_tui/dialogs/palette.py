"""Going anywhere and doing anything by a few letters of its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from flow.errors import FlowError
from flow.ops import dags
from flow_tui import targets
from flow_tui.background import start
from flow_tui.dialogs import keys
from flow_tui.dialogs.choose import Choice, ChooseDialog
from flow_tui.themes import PALETTES
from flow_tui.view import View

Act = Callable[[], Any]


class PaletteDialog(ChooseDialog[Act]):
    """Ends with what is to be done: an action of the screen, a DAG to open, a theme to use."""

    HEADING = "palette"
    PLACEHOLDER = "an action, a DAG, a theme"

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view

    def on_mount(self) -> None:
        flow = self.flow
        self._known = [
            Choice(cast("Act", partial(self._view.perform, one.value)), one.title, *one[2:])
            for one in keys.choices(flow, self._view)
        ]
        self._known += [
            Choice(cast("Act", partial(flow.use_theme, name)), f"theme {name}", "colours of all")
            for name in sorted(flow.available_themes)
        ]
        self._known += [
            Choice(
                cast("Act", partial(flow.use_palette, name)), f"palette {name}", "colours of states"
            )
            for name in PALETTES
        ]
        self.offer(self._known)
        start(self, self._add_dags)

    async def _add_dags(self) -> None:
        flow = self.flow
        try:
            ids = await flow.session.read(dags.ids)
        except FlowError:
            return  # the banner says that the database is away
        opened = [
            Choice(cast("Act", partial(flow.open, targets.dag(dag_id))), dag_id, "open this DAG")
            for dag_id in ids
        ]
        self.offer([*self._known, *opened])
