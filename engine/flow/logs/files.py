"""Where the log of a try is, and reading it.

    ROOT/dag_id=ID/run_id=ID/task_id=ID[/map=0.3]/attempt=N.log

Ids are legal file names already, except for run ids, whose `:` and `+` are harmless there; anything
else is percent-encoded, so that no id can leave the root.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

CHUNK: Final = 1 << 16
"""Bytes read at once."""


def log_path(
    root: Path, dag_id: str, run_id: str, task_id: str, map_path: Sequence[int], try_number: int
) -> Path:
    """The log file of one try."""
    folder = root / f"dag_id={_name(dag_id)}" / f"run_id={_name(run_id)}"
    folder /= f"task_id={_name(task_id)}"
    if map_path:
        folder /= "map=" + ".".join(map(str, map_path))
    return folder / f"attempt={try_number}.log"


def callback_log_path(root: Path, dag_id: str, run_id: str, callback_id: int) -> Path:
    """The log file of a callback that runs in a process of its own."""
    folder = root / f"dag_id={_name(dag_id)}" / f"run_id={_name(run_id)}"
    return folder / f"callback={callback_id}.log"


def read_log(path: Path, offset: int = 0) -> Iterator[bytes]:
    """The bytes of a log from `offset` on, in chunks; nothing when there is no such file yet."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            while chunk := file.read(CHUNK):
                yield chunk
    except FileNotFoundError:
        return


def _name(value: str) -> str:
    return quote(value, safe=":+ ")
