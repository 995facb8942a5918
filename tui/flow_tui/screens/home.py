"""The state of the deployment at a glance."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from flow.ops import status
from flow.ops.status import Status
from flow_tui.view import View


class HomeScreen(View):
    """What lives, what runs, what is wrong."""

    IN_VIEW = "home"

    def content(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(id="status")

    async def load(self) -> None:
        found = await self.read(status.show)
        self.query_one("#status", Static).update(_drawn(found))

    @property
    def path(self) -> tuple[str, ...]:
        return ("Home",)

    @property
    def command(self) -> str:
        return "flow status"


def _drawn(found: Status) -> Text:
    lines = Text()
    for role in found.roles:
        lines.append(f"{role.role} {role.host}:{role.pid}\n", "green" if role.healthy else "red")
    queue = found.queue
    lines.append(f"{queue.queued} queued, {queue.scheduled} scheduled\n")
    for problem in found.problems:
        lines.append(problem + "\n", "bold red")
    return lines
