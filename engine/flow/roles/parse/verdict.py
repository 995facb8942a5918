"""What an import that has ended says about its file, in the words of the store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from flow.process import verdict
from flow.process.messages import Parsed
from flow.process.verdict import ImportFailure, Limits
from flow.roles.parse.imports import Imported
from flow.store.dag_files import Failure
from flow.store.dags import Definition

_MOST_IMPORTS: Final = 10
_LONGEST_NAME: Final = 250


def judge(imported: Imported, limits: Limits) -> Failure | list[Definition]:
    """The DAGs that the file defines, or why it cannot be imported."""
    found = verdict.judge(
        imported.ended, overdue=imported.overdue, limits=limits, last=imported.last
    )
    if isinstance(found, ImportFailure):
        return Failure(*found)
    return [Definition(*one) for one in found]


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
