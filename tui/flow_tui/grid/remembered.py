"""What is remembered of grids from one time to the next: folded groups, the filter, the row."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from flow_tui.grid.rows import Kind, RowKey

MOST: Final = 50
"""DAGs whose grids are remembered, those that were seen last."""


class Remembered(NamedTuple):
    """How somebody left the grid of a DAG."""

    folded: frozenset[str] = frozenset()
    text: str = ""
    row: RowKey | None = None


def recall(text: str, dag_id: str) -> Remembered:
    """What a text of `remember` says of a DAG; nothing, where it cannot be read."""
    try:
        folded, words, row = _read(text)[dag_id]
        key = RowKey(Kind(row[0]), str(row[1]), tuple(map(int, row[2]))) if row else None
        return Remembered(frozenset(map(str, folded)), str(words), key)
    except (TypeError, ValueError, LookupError):
        return Remembered()


def remember(text: str, dag_id: str, now: Remembered) -> str:
    """The text with how the grid of a DAG is left now."""
    all_ = {name: value for name, value in _read(text).items() if name != dag_id}
    row = [now.row.kind.value, now.row.id, now.row.map_path] if now.row else None
    all_[dag_id] = [sorted(now.folded), now.text, row]
    return json.dumps(dict(list(all_.items())[-MOST:]))


def _read(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
