"""What `flow check` prints for people, and as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flow.wording.cells import counted
from flow_cli.records import row_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.ops.checking import Finding, Report
    from flow.ops.checking.check import ImportTree
    from flow.ops.slow_imports import Cost

SEVERITIES = ("error", "warning", "hint")


def relative(file: str, folder: str) -> str:
    """The path of a file, from `folder` where it lies in it."""
    return file.removeprefix(folder.rstrip(os.sep) + os.sep)


def place(finding: Finding, folder: str) -> str:
    """Where it is: `file:line`, as editors and terminals understand it."""
    file = relative(finding.file, folder)
    return file if finding.line is None else f"{file}:{finding.line}"


def describe(report: Report, folder: str) -> list[str]:
    """The findings, a line each with its hint below it; then the trees of slow imports."""
    lines = describe_findings(report.findings, folder)
    for slow in report.slow:
        lines += ["", *_tree(slow, folder)]
    return lines


def describe_findings(findings: Sequence[Finding], folder: str) -> list[str]:
    """A line for each, with its hint below it."""
    lines = []
    for one in findings:
        lines.append(f"{place(one, folder)}: {one.severity} {one.rule}: {one.message}")
        if one.hint is not None:
            lines.append(f"    {one.hint}")
    return lines


def document(report: Report, folder: str) -> dict[str, Any]:
    """The report as one JSON object."""
    return {
        "files": len(report.files),
        **{f"{name}s": len(_of(report.findings, name)) for name in SEVERITIES},
        "findings": [row(one, folder) for one in report.findings],
        "imports": [{**row_of(one), "file": relative(one.file, folder)} for one in report.slow],
    }


def row(finding: Finding, folder: str) -> dict[str, Any]:
    """One finding as a JSON object."""
    return {**row_of(finding), "file": relative(finding.file, folder)}


def summary(report: Report) -> str:
    """How many of what, in one line."""
    found = [
        counted(number, name) for name in SEVERITIES if (number := len(_of(report.findings, name)))
    ]
    return f"{counted(len(report.files), 'file')}: {', '.join(found) or 'nothing found'}"


def _of(findings: Sequence[Finding], severity: str) -> list[Finding]:
    return [one for one in findings if one.severity == severity]


def _tree(slow: ImportTree, folder: str) -> Iterator[str]:
    """The modules below those that imported them, the slowest first."""
    yield f"{slow.seconds:8.3f} s  {relative(slow.file, folder)}"
    left = list(slow.modules)

    def below(importer: str, depth: int) -> Iterator[str]:
        inner = [one for one in left if one.importer == importer]
        for one in sorted(inner, key=lambda cost: -cost.seconds):
            left.remove(one)
            yield _line(one, depth)
            yield from below(one.module, depth + 1)

    yield from below("", 1)
    # What a loader imported that cannot be measured itself stands by itself.
    for one in list(left):
        yield _line(one, 1)


def _line(cost: Cost, depth: int) -> str:
    return f"{cost.seconds:8.3f} s  {'  ' * depth}{cost.module}"
