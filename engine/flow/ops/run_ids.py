"""The ids of runs: those that Flow makes, and those that people may choose."""

from __future__ import annotations

import re
from datetime import datetime

from flow.dates import looks_like_date
from flow.errors import UsageError
from flow.graph.check import MAX_ID
from flow.states import RunType

LATEST = "latest"
"""What means the run with the greatest interval start, where a run is asked for."""
_LEGAL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:+-]*\Z")
_RESERVED = tuple(f"{kind}__" for kind in RunType if kind is not RunType.MANUAL)


def of_interval(start: datetime) -> str:
    """The id of a manual run for an interval of the schedule, by its start in UTC."""
    return f"{RunType.MANUAL}__{start.isoformat()}"


def ad_hoc(now: datetime) -> str:
    """The id of an ad hoc run, by the moment it was made in UTC, to the microsecond."""
    return f"{RunType.MANUAL}__{now.isoformat(timespec='microseconds')}"


def check(run_id: str) -> str:
    """The id itself when somebody may give it to a run, else `UsageError` naming the rule."""
    if len(run_id) > MAX_ID:
        raise UsageError(f"the run id has {len(run_id)} characters; at most {MAX_ID} are allowed")
    if run_id == LATEST or looks_like_date(run_id):
        raise UsageError(
            f"run id {run_id!r} would be read as something else",
            "`latest` and dates name runs too; choose an id that is neither",
        )
    if not _LEGAL.match(run_id) or ".." in run_id:
        raise UsageError(
            f"run id {run_id!r} is not legal",
            "use ASCII letters, digits and '_', then also '-', '.', ':' and '+', without '..'",
        )
    if run_id.startswith(_RESERVED):
        raise UsageError(
            f"run id {run_id!r} begins like those that Flow makes itself",
            f"choose one that does not begin with {', '.join(_RESERVED)}",
        )
    return run_id
