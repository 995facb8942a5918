"""Rules about what differs from one import of a file to the next. Pure.

Whatever differs makes a version of the DAG for each import, and its history worthless.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from flow.enumeration import few
from flow.graph import DagSpec
from flow.graph.compare import FieldChange, compare
from flow.graph.imported import ImportedDag
from flow.ops.checking import rules, source
from flow.ops.checking.evidence import Evidence
from flow.ops.checking.findings import Finding
from flow.ops.checking.rules import finding

_DATES: Final = frozenset({"start_date", "end_date"})
_CLOCKS: Final = frozenset({"now", "today", "utcnow", "days_ago", "yesterday", "tomorrow"})
_SHOWN: Final = 5
"""Differences that a message names."""
_DATE_HINT: Final = (
    "write a fixed date, as datetime(2026, 1, 31); catchup says what of the past runs"
)
_HINT: Final = "let the DAG depend on nothing but the file: not on the clock, on chance or on order"


class _Moved(NamedTuple):
    """One difference; `date` where it is one of a start or end date."""

    text: str
    date: bool = False


def movements(evidence: Evidence) -> Iterator[Finding]:
    """DAGs that a second import defined differently, or not at all; dates by their own rule."""
    written = list(clock_dates(evidence))
    yield from written
    if evidence.again is None or evidence.again.failure is not None:
        return
    second = {dag.spec.dag_id: dag for dag in evidence.again.dags}
    first = {dag.spec.dag_id: dag for dag in evidence.first.dags}
    for dag_id in sorted(first.keys() ^ second.keys()):
        dag = first.get(dag_id) or second[dag_id]
        yield _unstable(
            evidence, dag, f"DAG {dag_id!r} is defined by one import and not by another"
        )
    for dag_id in sorted(first.keys() & second.keys()):
        moved = list(_moved(first[dag_id].spec, second[dag_id].spec))
        dates = [one.text for one in moved if one.date]
        others = [one.text for one in moved if not one.date]
        if dates and not _says(written, first[dag_id].line, [dag.line for dag in first.values()]):
            yield finding(
                rules.MOVING_START_DATE,
                evidence.file,
                f"DAG {dag_id!r} has other dates at each import: {few(dates, _SHOWN, '; ')}",
                line=first[dag_id].line,
                dag_id=dag_id,
                hint=_DATE_HINT,
            )
        if others:
            text = f"DAG {dag_id!r} is another one at each import: {few(others, _SHOWN, '; ')}"
            yield _unstable(evidence, first[dag_id], text)


def clock_dates(evidence: Evidence) -> Iterator[Finding]:
    """Start and end dates that are computed from the current time where they are written.

    A date that moves once a day is the same in two imports; its source shows it all the same.
    """
    for name, value in source.named_values(evidence.source, _DATES):
        clock = next(filter(None, map(_clock, ast.walk(value))), None)
        if clock is not None:
            yield finding(
                rules.MOVING_START_DATE,
                evidence.file,
                f"{name} is computed from the current time ({clock}), so it moves",
                line=value.lineno,
                hint=_DATE_HINT,
            )


def _says(written: Iterable[Finding], line: int, all_lines: Iterable[int]) -> bool:
    """Whether it has been told of a date between the DAG in a line and the next one."""
    end = min((other for other in all_lines if other > line), default=None)
    lines = [one.line for one in written if one.line is not None]
    return any(line <= at and (end is None or at < end) for at in lines)


def _clock(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name if name in _CLOCKS else None


def _moved(before: DagSpec, after: DagSpec) -> Iterator[_Moved]:
    found = compare(before, after)
    for change in found.fields:
        yield _Moved(_change(change), change.field in _DATES)
    for task in found.tasks_changed:
        for change in task.fields:
            yield _Moved(f"{_change(change)} of task {task.task_id}", change.field in _DATES)
    for task_id in (*found.tasks_added, *found.tasks_removed):
        yield _Moved(f"task {task_id} comes and goes")
    known = {*found.tasks_added, *found.tasks_removed}
    for upstream, task_id in (*found.edges_added, *found.edges_removed):
        if not known & {upstream, task_id}:
            yield _Moved(f"the edge {upstream} >> {task_id} comes and goes")


def _change(change: FieldChange) -> str:
    return f"{change.field} {change.before!s} -> {change.after!s}"


def _unstable(evidence: Evidence, dag: ImportedDag, text: str) -> Finding:
    return finding(
        rules.UNSTABLE_DAG,
        evidence.file,
        text,
        line=dag.line,
        dag_id=dag.spec.dag_id,
        hint=_HINT,
    )
