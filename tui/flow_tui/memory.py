"""What the terminal UI remembers from one time to the next: filters, their history, the theme.

A small JSON file in the user's state folder. It is a convenience: what cannot be read or written is
forgotten without a word.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

HISTORY: Final = 20
"""Filters that are remembered for each view."""


class Memory:
    """Values by name. `path` None: nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._values: dict[str, Any] = {}
        self._changed = False
        if path is not None:
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                found = None
            if isinstance(found, dict):
                self._values = found

    @classmethod
    def of_user(cls) -> Memory:
        """The memory of whoever runs this."""
        folder = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
        try:
            return cls(Path(folder).expanduser() / "flow" / "tui.json")
        except RuntimeError:  # the user has no home
            return cls(None)

    def get(self, name: str, otherwise: str = "") -> str:
        """A text that was remembered."""
        value = self._values.get(name, otherwise)
        return value if isinstance(value, str) else otherwise

    def set(self, name: str, value: str) -> None:
        """Remember a text."""
        self._values[name] = value
        self._changed = True

    def history(self, name: str) -> list[str]:
        """Texts that were entered under a name, the newest last."""
        value = self._values.get(f"{name}.history")
        return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []

    def add(self, name: str, text: str) -> None:
        """Remember that a text was entered."""
        before = [one for one in self.history(name) if one != text]
        self._values[f"{name}.history"] = [*before, text][-HISTORY:]
        self._changed = True

    def save(self) -> None:
        """Write what was remembered, whole or not at all."""
        if self._path is None or not self._changed:
            return
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(self._values), encoding="utf-8")
            beside.replace(self._path)
        except OSError:
            with suppress(OSError):
                beside.unlink()
