"""What the imports of one DAG file have told: all that the rules look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flow.graph.imported import ImportedDag, ImportFailure
from flow.ops.slow_imports import Cost
from flow.process.messages import Deed, ImportTime, Parsed
from flow.process.verdict import Limits, judge
from flow.roles.parse.imports import Imported
from flow.roles.parse.verdict import modules


class Known(NamedTuple):
    """Names that `flow.toml` says there are; None: it does not say it, so nobody can know here."""

    pools: frozenset[str] | None = None
    queues: frozenset[str] | None = None


class Import(NamedTuple):
    """One import of a file: what it defines, or why it cannot be imported."""

    dags: Sequence[ImportedDag] = ()
    failure: ImportFailure | None = None
    seconds: float = 0.0
    parsed: Parsed = Parsed()


class Evidence(NamedTuple):
    """A file, its source, and its two imports."""

    file: str
    root: str
    source: str
    """"" for an archive, and for what is no text."""
    first: Import
    again: Import | None = None
    """None: it was not imported again, for the first import failed."""

    @property
    def seconds(self) -> float:
        """How long an import takes, however busy the machine was during one of them."""
        return min(one.seconds for one in (self.first, self.again) if one is not None)

    @property
    def deeds(self) -> Sequence[Deed]:
        """What the import did beside defining DAGs."""
        return self.first.parsed.deeds

    @property
    def read(self) -> frozenset[str]:
        """The local files that decide what the import finds: imported ones, and lacking ones."""
        return frozenset(modules(self.first.parsed, self.root).values())


def import_of(imported: Imported, limits: Limits) -> Import:
    """Judge an import that has ended."""
    result = imported.ended.result if imported.ended is not None else None
    parsed = result if isinstance(result, Parsed) else Parsed()
    found = judge(imported.ended, overdue=imported.overdue, limits=limits, last=imported.last)
    seconds = parsed.seconds if isinstance(result, Parsed) else imported.seconds
    if isinstance(found, ImportFailure):
        return Import(failure=found, seconds=seconds, parsed=parsed)
    return Import(found, None, seconds, parsed)


def cost(one: ImportTime) -> Cost:
    """The time of a module, in the words of whoever looks for the one to blame."""
    return Cost(one.name, one.seconds, one.importer)
