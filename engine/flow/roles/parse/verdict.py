"""What an import that has ended says about its file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from flow.graph.imported import ImportedDag, ImportFailure
from flow.process import verdict
from flow.process.messages import Parsed
from flow.process.verdict import Limits
from flow.roles.parse.imports import Imported

_MOST_IMPORTS: Final = 10
_LONGEST_NAME: Final = 250


def judge(imported: Imported, limits: Limits) -> ImportFailure | list[ImportedDag]:
    """The DAGs that the file defines, or why it cannot be imported."""
    return verdict.judge(
        imported.ended, overdue=imported.overdue, limits=limits, last=imported.last
    )


def modules(parsed: Parsed, root: str) -> dict[str, str]:
    """The files whose change makes another import worth while: name → absolute path.

    Modules that the file has imported, and the places in the DAG folder where one that it lacked
    would be.
    """
    found = {n: path for n, path in parsed.modules.items() if path.startswith(os.sep)}
    for name in parsed.lacked:
        place = root + os.sep + name.replace(".", os.sep)
        if root and os.sep not in name:
            found.setdefault(name, f"{place}.py")
            found.setdefault(f"{name}.__init__", f"{place}{os.sep}__init__.py")
    return found


def imports(parsed: Parsed) -> Sequence[tuple[str, float, str]]:
    """The slowest imports: module, seconds, importer."""
    return [
        (one.name[:_LONGEST_NAME], one.seconds, one.importer[:_LONGEST_NAME])
        for one in parsed.imports[:_MOST_IMPORTS]
    ]
