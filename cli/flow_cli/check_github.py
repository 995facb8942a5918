"""Findings as annotations of GitHub Actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow_cli.check_page import relative
from flow_cli.workflow_commands import annotation

if TYPE_CHECKING:
    from flow.ops.checking import Finding, Report

_LEVELS = {"error": "error", "warning": "warning", "hint": "notice"}


def workflow_commands(report: Report, folder: str) -> list[str]:
    """A command for each finding."""
    return [_annotation(one, folder) for one in report.findings]


def _annotation(one: Finding, folder: str) -> str:
    properties = {"file": relative(one.file, folder), "line": str(one.line or 1), "title": one.rule}
    text = one.message if one.hint is None else f"{one.message}\n{one.hint}"
    return annotation(_LEVELS[one.severity], properties, text)
