"""What lies where under FLOW_HOME."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Layout(NamedTuple):
    """The paths of one embedded server. `home` has no symbolic links in it: the server's process
    is recognised by the path of its data."""

    home: Path

    @property
    def root(self) -> Path:
        return self.home / "postgres"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def log(self) -> Path:
        return self.root / "postgres.log"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    def copied_binaries(self, version: str) -> Path:
        """Where programs are copied that the server's account cannot reach at their own place."""
        return self.root / f"binaries-{version}"
