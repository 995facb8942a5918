"""What imports have left behind: a line each, in the order in which they ran.

A line is the DAG's id, the number of the edit that wrote its file, and the value of the module that
it imported; `-` in place of the value is a hostile file's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_HOSTILE: Final = "-"


@dataclass(frozen=True, slots=True)
class Traces:
    """The file of all lines."""

    path: Path

    def end(self) -> int:
        """Where the next line will begin, in bytes."""
        return self.path.stat().st_size if self.path.exists() else 0

    def since(self, begin: int = 0) -> list[str]:
        """The lines from there on."""
        with self.path.open(encoding="utf-8") as file:
            file.seek(begin)
            return file.read().splitlines()

    def good(self, begin: int = 0) -> list[str]:
        """The lines of good files from there on."""
        return [line for line in self.since(begin) if not line.endswith(_HOSTILE)]

    def before(self, dag_id: str, token: int, begin: int) -> int:
        """How many imports ran from there on before the first one of a file as an edit left it."""
        wanted = f"{dag_id} {token} "
        lines = self.since(begin)
        return next((n for n, line in enumerate(lines) if line.startswith(wanted)), len(lines))

    def repeated(self) -> int:
        """Imports of good files that were just as they had been at an earlier one."""
        return sum(count - 1 for count in Counter(self.good()).values())
