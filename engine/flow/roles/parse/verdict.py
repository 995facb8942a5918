"""What an import that has ended says about its file, in the words of the store."""

from __future__ import annotations

from flow.process import verdict
from flow.process.verdict import ImportFailure, Limits
from flow.roles.parse.imports import Imported
from flow.store.dag_files import Failure
from flow.store.dags import Definition


def judge(imported: Imported, limits: Limits) -> Failure | list[Definition]:
    """The DAGs that the file defines, or why it cannot be imported."""
    found = verdict.judge(imported.ended, overdue=imported.overdue, limits=limits)
    if isinstance(found, ImportFailure):
        return Failure(*found)
    return [Definition(*one) for one in found]
