"""Findings as SARIF 2.1.0 (docs.oasis-open.org/sarif), which code scanning reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from flow_cli.check_page import relative

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.ops.checking import Finding, Report, Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "hint": "note"}
_ROOT = "ROOT"


def sarif(report: Report, rules: Mapping[str, Rule], folder: str, version: str) -> dict[str, Any]:
    """A log of one run. Paths are relative to `folder`, or absolute outside of it."""
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "flow check",
                        "version": version,
                        "rules": [_rule(rule) for rule in rules.values()],
                    }
                },
                "originalUriBaseIds": {_ROOT: {"uri": _uri(folder.rstrip("/") + "/")}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, list(rules), folder) for one in report.findings],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"enabled": rule.default, "level": _LEVELS[rule.severity]},
    }


def _result(one: Finding, rules: list[str], folder: str) -> dict[str, Any]:
    text = one.message if one.hint is None else f"{one.message}\n{one.hint}"
    location: dict[str, Any] = {"artifactLocation": _artifact(one.file, folder)}
    if one.line is not None:
        location["region"] = {"startLine": one.line}
    return {
        "ruleId": one.rule,
        "ruleIndex": rules.index(one.rule),
        "level": _LEVELS[one.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
    }


def _artifact(file: str, folder: str) -> dict[str, str]:
    name = relative(file, folder)
    return {"uri": _uri(file)} if name == file else {"uri": quote(name), "uriBaseId": _ROOT}


def _uri(path: str) -> str:
    return f"file://{quote(path)}"
