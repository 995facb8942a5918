"""The rules of `flow check`, and the findings that they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flow.ops.checking.findings import Finding, Rule, Severity

IMPORT_ERROR: Final = "import-error"
INVALID_DAG: Final = "invalid-dag"
CYCLE: Final = "cycle"
DUPLICATE_ID: Final = "duplicate-id"
DUPLICATE_DAG_ID: Final = "duplicate-dag-id"
UNSUPPORTED_ARGUMENT: Final = "unsupported-argument"
TIMETABLE_ERROR: Final = "timetable-error"
UNREADABLE: Final = "unreadable"
UNKNOWN_POOL: Final = "unknown-pool"
UNKNOWN_QUEUE: Final = "unknown-queue"
MOVING_START_DATE: Final = "moving-start-date"
UNSTABLE_DAG: Final = "unstable-dag"
SLOW_IMPORT: Final = "slow-import"
TOP_LEVEL_NETWORK: Final = "top-level-network"
TOP_LEVEL_PROCESS: Final = "top-level-process"
TOP_LEVEL_FILE: Final = "top-level-file"
TOP_LEVEL_CONNECTION: Final = "top-level-connection"
TOP_LEVEL_VARIABLE: Final = "top-level-variable"
IMPORT_WARNING: Final = "import-warning"
DEPRECATED: Final = "deprecated"
UNKNOWN_RULE: Final = "unknown-rule"
APPEND_ON_RERUN: Final = "append-on-rerun"
AIRFLOW_LOGICAL_DATE: Final = "airflow-logical-date"

_ERROR, _WARNING, _HINT = Severity.ERROR, Severity.WARNING, Severity.HINT
_RULES = (
    Rule(IMPORT_ERROR, _ERROR, "The file cannot be imported", ignorable=False),
    Rule(INVALID_DAG, _ERROR, "A DAG cannot be as it stands", ignorable=False),
    Rule(CYCLE, _ERROR, "Tasks wait for each other in a circle", ignorable=False),
    Rule(DUPLICATE_ID, _ERROR, "An id is used twice in one file", ignorable=False),
    Rule(DUPLICATE_DAG_ID, _ERROR, "Two files define one DAG id"),
    Rule(
        UNSUPPORTED_ARGUMENT,
        _ERROR,
        "An argument that Flow does not have, or not yet",
        ignorable=False,
    ),
    Rule(TIMETABLE_ERROR, _ERROR, "A timetable of the file's own fails", ignorable=False),
    Rule(UNREADABLE, _ERROR, "A folder or file name cannot be read", ignorable=False),
    Rule(UNKNOWN_POOL, _ERROR, "A task names a pool that is not in check.pools"),
    Rule(UNKNOWN_QUEUE, _ERROR, "A task names a queue that is not in check.queues"),
    Rule(MOVING_START_DATE, _WARNING, "A start or end date depends on when the file is imported"),
    Rule(UNSTABLE_DAG, _WARNING, "Two imports of the file give different DAGs"),
    Rule(SLOW_IMPORT, _WARNING, "The import takes long"),
    Rule(TOP_LEVEL_NETWORK, _WARNING, "The import talks to the network"),
    Rule(TOP_LEVEL_PROCESS, _WARNING, "The import starts a program"),
    Rule(TOP_LEVEL_FILE, _WARNING, "The import reads files elsewhere, or writes files"),
    Rule(TOP_LEVEL_CONNECTION, _WARNING, "The import reads a connection"),
    Rule(TOP_LEVEL_VARIABLE, _HINT, "The import reads a variable"),
    Rule(IMPORT_WARNING, _WARNING, "The import warns of something"),
    Rule(DEPRECATED, _WARNING, "The file uses something that is going away"),
    Rule(UNKNOWN_RULE, _WARNING, "A comment ignores a rule that there is not"),
    Rule(
        APPEND_ON_RERUN, _HINT, "A statement may insert rows again when it is rerun", default=False
    ),
    Rule(
        AIRFLOW_LOGICAL_DATE,
        _HINT,
        "The logical date is another one than in Airflow 3",
        default=False,
    ),
)
RULES: Final[Mapping[str, Rule]] = {rule.id: rule for rule in _RULES}


def finding(
    rule: str,
    file: str,
    message: str,
    *,
    line: int | None = None,
    dag_id: str | None = None,
    hint: str | None = None,
    severity: Severity | None = None,
) -> Finding:
    """A finding of a rule, as severe as the rule says unless a check wants it otherwise."""
    return Finding(
        rule, severity or RULES[rule].severity, file, line, dag_id, message, hint or None
    )
