"""Rules about what an import has said of itself: errors, timetables, warnings, slowness. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from flow.ops.checking import rules
from flow.ops.checking.evidence import Evidence, Import, cost
from flow.ops.checking.findings import Finding, Severity
from flow.ops.checking.rules import finding
from flow.ops.slow_imports import SLOW, slow_import
from flow.process.import_record import is_border
from flow.secrets import names

_BY_CODE: Final[Mapping[str, str]] = {
    "cycle": rules.CYCLE,
    "duplicate_id": rules.DUPLICATE_ID,
    "invalid_dag": rules.INVALID_DAG,
    "unsupported_argument": rules.UNSUPPORTED_ARGUMENT,
}
_WARNING: Final = re.compile(r"(?P<file>.+?):(?P<line>\d+): (?P<category>\w+): (?P<text>.*)", re.S)
_GOING_AWAY: Final = {"DeprecationWarning", "PendingDeprecationWarning", "FutureWarning"}


def import_errors(evidence: Evidence) -> Iterator[Finding]:
    """Why the file cannot be imported, at its line, with the name that was probably meant."""
    failure = evidence.first.failure
    if failure is not None:
        yield finding(
            _BY_CODE.get(evidence.first.parsed.error_code, rules.IMPORT_ERROR),
            evidence.file,
            failure.error,
            line=failure.line,
            hint=_hint(evidence.first),
        )
    elif evidence.again is not None and evidence.again.failure is not None:
        yield finding(
            rules.IMPORT_ERROR,
            evidence.file,
            f"a second import failed, after one that did not: {evidence.again.failure.error}",
            line=evidence.again.failure.line,
            hint="let the import depend on nothing but the file and its modules",
        )


def timetables(evidence: Evidence) -> Iterator[Finding]:
    """Timetables of the file's own that could not say which intervals come."""
    for dag in evidence.first.dags:
        if dag.evaluation is not None and dag.evaluation.error is not None:
            yield finding(
                rules.TIMETABLE_ERROR,
                evidence.file,
                f"the timetable of DAG {dag.spec.dag_id!r}: {dag.evaluation.error}",
                line=dag.line,
                dag_id=dag.spec.dag_id,
            )


def warnings(evidence: Evidence) -> Iterator[Finding]:
    """What Python, its packages and Flow have warned of in the user's own files."""
    for text in evidence.first.parsed.warnings:
        told = _WARNING.fullmatch(text)
        if told is None:
            continue
        rule = rules.DEPRECATED if told["category"] in _GOING_AWAY else rules.IMPORT_WARNING
        message = " ".join(f"{told['category']}: {told['text']}".split())
        yield finding(rule, told["file"], message, line=int(told["line"]))


def slowness(evidence: Evidence, budget: float | None) -> Iterator[Finding]:
    """A slow import, with the module to blame. What a budget forbids is an error."""
    limit = SLOW if budget is None else budget
    if evidence.first.failure is None and evidence.seconds >= limit:
        borders = [cost(one) for one in evidence.first.parsed.imports if is_border(one)]
        yield finding(
            rules.SLOW_IMPORT,
            evidence.file,
            slow_import(evidence.seconds, borders),
            severity=Severity.ERROR if budget is not None else None,
        )


def _hint(failed: Import) -> str | None:
    parsed = failed.parsed
    if parsed.nearest is not None:
        return f"did you mean {parsed.nearest!r}?"
    if parsed.error_code == "not_found" and parsed.deeds:
        last = parsed.deeds[-1]
        if last.kind == "variable":
            return f"a check takes it from --var or {names.variable_in_environment(last.target)}"
        if last.kind == "connection":
            return f"a check takes it from --conn or {names.connection_in_environment(last.target)}"
    return None
