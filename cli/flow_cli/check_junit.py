"""Findings as a JUnit report: a test case for each file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow_cli.check_page import describe_findings, relative
from flow_cli.junit import Case, Outcome, document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.ops.checking import Finding, Report


def junit(report: Report, folder: str, *, strict: bool) -> str:
    """XML of one test suite. What ends the check as failed fails the case of its file."""
    files = dict.fromkeys([*report.files, *(one.file for one in report.findings)])
    return document("flow check", [_case(report, file, folder, strict=strict) for file in files])


def _case(report: Report, file: str, folder: str, *, strict: bool) -> Case:
    found = [one for one in report.findings if one.file == file]
    failing = [one for one in found if _fails(one, strict)]
    case = Case(
        "flow.check",
        relative(file, folder),
        output=_text([one for one in found if one not in failing], folder),
    )
    if not failing:
        return case
    return case._replace(
        outcome=Outcome.FAILURE,
        kind=failing[0].rule,
        message=failing[0].message,
        text=_text(failing, folder),
    )


def _fails(one: Finding, strict: bool) -> bool:
    return one.severity == "error" or (strict and one.severity == "warning")


def _text(findings: Sequence[Finding], folder: str) -> str:
    return "\n".join(describe_findings(findings, folder))
