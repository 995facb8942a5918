"""From an id that no DAG has to the DAG file that would define it, if it could be imported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from flow.store.connect import Conn
from flow.store.read import dags
from flow.store.read.dags import FileError

_LOOKED_AT: Final = 200
"""Files with an error, of which there are few."""
_LARGEST: Final = 1_000_000
"""Bytes of a file that is looked into."""


def hint(conn: Conn, dag_id: str) -> str | None:
    """What keeps a DAG of that id from being there; None where no file with an error is about it.

    A file is about a DAG if it has its name, else if the id stands in it as a text or as the name
    of a function; this can be seen only where the file is.
    """
    failed = dags.errors(conn, _LOOKED_AT).rows
    named = (one for one in failed if Path(one.file).stem == dag_id)
    found = next(named, None) or next((one for one in failed if _mentions(one, dag_id)), None)
    if found is None:
        return None
    return f"{found.file} cannot be imported: {found.error}; see `flow dags errors {found.file}`"


def _mentions(one: FileError, dag_id: str) -> bool:
    try:
        with Path(one.file).open(encoding="utf-8", errors="replace") as file:
            text = file.read(_LARGEST)
    except OSError:
        return False
    id_ = re.escape(dag_id)
    return re.search(rf"""(["']){id_}\1|\bdef {id_}\(""", text) is not None
