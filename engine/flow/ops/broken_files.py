"""From an id that no DAG has to the DAG file that would define it, if it could be imported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from flow.errors import NotFound
from flow.store.connect import Conn
from flow.store.read import dags
from flow.store.read.dags import BrokenFile

_NAMED: Final = 200
"""Files whose names are looked at, …"""
_READ: Final = 20
"""… of which so many are looked into, …"""
_LARGEST: Final = 64 * 1024
"""… so many bytes of each."""


class UnknownDag(NotFound):
    """No DAG has that id; the hint names ids that are near."""

    def __init__(self, dag_id: str, hint: str) -> None:
        super().__init__(f"there is no DAG {dag_id!r}", hint)
        self.dag_id = dag_id

    def __reduce__(self) -> tuple[type[UnknownDag], tuple[str, str]]:
        return type(self), (self.dag_id, self.hint)


@contextmanager
def blamed(conn: Conn) -> Iterator[None]:
    """Around a transaction: say of a DAG that it does not find which file is to blame, if one is.

    Files are read when its locks are gone: a slow disk holds up nobody.
    """
    try:
        yield
    except UnknownDag as error:
        told = hint(conn, error.dag_id)
        if told is None:
            raise
        raise UnknownDag(error.dag_id, told) from error


def hint(conn: Conn, dag_id: str) -> str | None:
    """What keeps a DAG of that id from being there; None where no file with an error is about it.

    A file is about a DAG if it has its name, else if the id stands in it as a text or as the name
    of a function; this can be seen only where the file is.
    """
    failed = dags.broken(conn, _NAMED)
    named = (one for one in failed if Path(one.path).stem == dag_id)
    mentioning = (one for one in islice(failed, _READ) if _mentions(one, dag_id))
    found = next(named, None) or next(mentioning, None)
    if found is None:
        return None
    return f"{found.path} cannot be imported: {found.error}; see `flow dags errors {found.path}`"


def _mentions(one: BrokenFile, dag_id: str) -> bool:
    from flow.process.plain_file import opener  # verbs that find their DAG go without it

    try:
        with open(one.path, "rb", opener=opener) as file:
            text = file.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return False
    id_ = re.escape(dag_id)
    return re.search(rf"""(["']){id_}\1|\bdef {id_}\(""", text) is not None
