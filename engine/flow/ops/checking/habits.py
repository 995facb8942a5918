"""Rules that are off unless they are asked for: what is often right, and sometimes a trap. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flow.ops.checking import rules, source
from flow.ops.checking.evidence import Evidence
from flow.ops.checking.findings import Finding
from flow.ops.checking.rules import finding
from flow.timetables import CronInterval, DeltaInterval

_INSERTS: Final = re.compile(r"\binsert\s+into\b", re.IGNORECASE)
_REPEATABLE: Final = re.compile(
    r"\b(delete\s+from|truncate|merge\s+into|on\s+conflict|on\s+duplicate\s+key|overwrite"
    r"|not\s+exists|replace\s+into|create\s+(or\s+replace\s+)?(temp\w*\s+)?table)\b",
    re.IGNORECASE,
)


def appends(evidence: Evidence) -> Iterator[Finding]:
    """Texts that insert and neither delete nor merge. What other statements do is not known."""
    for line, text in source.texts(evidence.source):
        if _INSERTS.search(text) and not _REPEATABLE.search(text):
            yield finding(
                rules.APPEND_ON_RERUN,
                evidence.file,
                "this statement inserts, and nothing in it removes what an earlier try inserted",
                line=line,
                hint="delete the interval's rows first, or merge",
            )


def logical_dates(evidence: Evidence) -> Iterator[Finding]:
    """DAGs whose runs are named by the start of their interval; Airflow 3 names them by its end."""
    for dag in evidence.first.dags:
        if isinstance(dag.spec.timetable, CronInterval | DeltaInterval):
            yield finding(
                rules.AIRFLOW_LOGICAL_DATE,
                evidence.file,
                f"the logical date and ds of DAG {dag.spec.dag_id!r} are its interval's start; "
                "Airflow 3 takes the moment at which the run is made",
                line=dag.line,
                dag_id=dag.spec.dag_id,
                hint="CronTriggerTimetable or DeltaTriggerTimetable does what Airflow 3 does",
            )
