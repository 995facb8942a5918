"""Where the time of an import goes: the module to blame, and the way that leads to it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

SLOW: Final = 1.0
"""Seconds from which on an import is slow: every try of its tasks imports the file as well."""
_SHARE: Final = 0.5
"""Of the time, from which on a module is to blame."""


class Cost(NamedTuple):
    """How long a module took to import, with all that it imported itself."""

    module: str
    seconds: float
    importer: str
    """The module that imported it; "": the DAG file."""


def slow_import(seconds: float, imports: Sequence[Cost]) -> str:
    """How long an import took, and on whose account."""
    chain = list(_blamed(seconds, imports))
    said = f"the import took {seconds:.1f} s"
    if not chain:
        return f"{said}, most of it in the file's own code: move that into tasks"
    name, spent = chain[-1]
    way = "" if len(chain) == 1 else f" by way of {' → '.join(name for name, _ in chain[:-1])}"
    return f"{said}, of which {name} took {spent:.1f} s{way}: import it in the tasks that need it"


def _blamed(seconds: float, imports: Sequence[Cost]) -> Iterable[tuple[str, float]]:
    """From the file to the module that spends most of the time: each imports the next one."""
    importer, left = "", list(imports)
    while True:
        inner = [one for one in left if _package(one.importer) == _package(importer)]
        heaviest = max(inner, key=lambda one: one.seconds, default=None)
        if heaviest is None or heaviest.seconds < seconds * _SHARE:
            return
        importer, seconds = heaviest.module, heaviest.seconds
        left.remove(heaviest)
        yield importer, seconds


def _package(name: str) -> str:
    return name.partition(".")[0]
