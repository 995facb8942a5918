"""A screen of panes, of which one is seen: what only that one shows is read when it is shown."""

from __future__ import annotations

from typing import ClassVar

from textual import on

from flow.errors import DatabaseError, FlowError
from flow_tui.sentences import of_error
from flow_tui.view import View
from flow_tui.widgets.page import Page
from flow_tui.widgets.panes import Panes


class PanedView(View):
    """A subclass reads in `load_all` what all panes are made of, in `load_pane` what one needs."""

    STILL: ClassVar[frozenset[str]] = frozenset()
    """Panes, pages all of them, that are not read again while they are shown."""

    def __init__(self) -> None:
        super().__init__()
        self._still = ""
        """The still pane that is shown and has been read."""

    async def load_all(self) -> None:
        """Read what all panes are made of, and show it. Raises what `read` raises."""
        raise NotImplementedError

    async def load_pane(self, name: str) -> None:
        """Read what only this pane shows, and show it. Raises what `read` raises."""

    @property
    def panes(self) -> Panes:
        """The panes."""
        return self.query_one(Panes)

    @property
    def shown(self) -> str:
        """The name of the pane that is seen."""
        return self.panes.shown

    def page(self, name: str) -> Page:
        """The page of a pane."""
        return self.query_one(f"#pane-{name}", Page)

    async def load(self) -> None:
        await self.load_all()
        name = self.shown
        if name not in self.STILL:
            await self.load_pane(name)
        elif name != self._still:
            try:
                await self.load_pane(name)
            except DatabaseError:
                raise  # it is read when the database is back
            except FlowError as error:
                self.page(name).show(of_error(error))
            self._still = name

    def unread(self, name: str) -> None:
        """What was to be read of a still pane in the background did not come: read it again."""
        if self._still == name:
            self._still = ""

    @on(Panes.Shown)
    def pane_shown(self) -> None:
        """Read what only this pane shows."""
        self._still = ""
        self.refresh_data()
        self.update_hints()

    def do_pane_next(self) -> None:
        """The next pane."""
        self.panes.step(1)

    def do_pane_previous(self) -> None:
        """The pane before."""
        self.panes.step(-1)
