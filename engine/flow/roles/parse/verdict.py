"""What an import that has ended says about its file, in the words of the store."""

from __future__ import annotations

from flow.process import verdict
from flow.process.verdict import ImportFailure
from flow.roles.parse.imports import Imported
from flow.store.dag_files import Failure
from flow.store.dags import Definition


def judge(imported: Imported, timeout: float) -> Failure | list[Definition]:
    """The DAGs that the file defines, or why it cannot be imported. `timeout` is in seconds."""
    found = verdict.judge(imported.ended, overdue=imported.overdue, timeout=timeout)
    if isinstance(found, ImportFailure):
        return Failure(*found)
    return [Definition(*one) for one in found]
