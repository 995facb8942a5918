"""The DAG folder of a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def root_of(file: str, folders: Sequence[Path]) -> str:
    """The DAG folder that holds a file, for imports of local modules; "" outside of all."""
    return next((str(folder) for folder in folders if Path(file).is_relative_to(folder)), "")
