"""`flow check`: what is wrong with DAG files, told without a database.

Every file is imported as the DAG processor imports it (its child, its limits, its record), twice.
What the imports have told is the *evidence*; the rules are pure functions of it. What can only be
known from a database, such as which pools there are, is checked where `flow.toml` names it.
"""

from flow.ops.checking.check import Report, Request, Settings, check
from flow.ops.checking.findings import Finding, Rule, Severity
from flow.ops.checking.rules import RULES

__all__ = [
    "RULES",
    "Finding",
    "Report",
    "Request",
    "Rule",
    "Settings",
    "Severity",
    "check",
]
