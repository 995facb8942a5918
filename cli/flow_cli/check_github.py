"""Findings as workflow commands of GitHub Actions, which shows them beside the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flow_cli.check_page import relative

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.ops.checking import Finding, Report

_LEVELS = {"error": "error", "warning": "warning", "hint": "notice"}
_IN_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = {**_IN_DATA, ":": "%3A", ",": "%2C"}


def workflow_commands(report: Report, folder: str) -> list[str]:
    """A command for each finding (docs.github.com: "Workflow commands for GitHub Actions")."""
    return [_annotation(one, folder) for one in report.findings]


def _annotation(one: Finding, folder: str) -> str:
    properties = {"file": relative(one.file, folder), "line": str(one.line or 1), "title": one.rule}
    written = ",".join(f"{name}={_escaped(v, _IN_PROPERTIES)}" for name, v in properties.items())
    text = one.message if one.hint is None else f"{one.message}\n{one.hint}"
    return f"::{_LEVELS[one.severity]} {written}::{_escaped(text, _IN_DATA)}"


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return text.translate({ord(character): code for character, code in escapes.items()})
