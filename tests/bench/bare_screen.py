"""An interface with nothing in it but a word, which another one replaces at each key."""

from __future__ import annotations

from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Static


class BareScreen(App[None]):
    """What Textual itself takes from a key to a paint."""

    def compose(self) -> ComposeResult:
        yield Static("ready")

    def on_key(self, event: events.Key) -> None:
        self._keys = getattr(self, "_keys", 0) + 1
        self.query_one(Static).update(f"{event.key} {self._keys}")


if __name__ == "__main__":
    BareScreen().run()
