"""Rules about what an import does beside defining DAGs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from flow.ops.checking import rules
from flow.ops.checking.evidence import Evidence
from flow.ops.checking.findings import Finding
from flow.ops.checking.rules import finding
from flow.process.messages import Deed

_RULES: Final[Mapping[str, tuple[str, str, str]]] = {
    "network": (rules.TOP_LEVEL_NETWORK, "connects to", "do it in a task"),
    "process": (rules.TOP_LEVEL_PROCESS, "starts", "do it in a task"),
    "read": (
        rules.TOP_LEVEL_FILE,
        "reads",
        "read it in a task, or keep it in the DAG folder",
    ),
    "write": (rules.TOP_LEVEL_FILE, "writes to", "do it in a task"),
    "connection": (
        rules.TOP_LEVEL_CONNECTION,
        "reads connection",
        "read it in the task that uses it",
    ),
    "variable": (
        rules.TOP_LEVEL_VARIABLE,
        "reads variable",
        "read it in a task, or in a template: {{ var.value.… }}",
    ),
}
"""By kind of deed: the rule, the verb, and what to do."""


def deeds(evidence: Evidence) -> Iterator[Finding]:
    """Each thing that the import did, at the line of the user's that led to it."""
    for deed in evidence.deeds:
        if deed.kind in _RULES:
            rule, verb, hint = _RULES[deed.kind]
            yield finding(
                rule,
                deed.file,
                f"{_subject(deed)} {verb} {deed.target}",
                line=deed.line,
                hint=f"import {deed.through} in the task that needs it" if deed.through else hint,
            )


def _subject(deed: Deed) -> str:
    return f"the import of {deed.through}" if deed.through else "the import"
