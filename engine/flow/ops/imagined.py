"""A run that no store knows: what it would be like if somebody made it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from flow.dates import parse_date
from flow.graph import DagSpec
from flow.ops import intervals, run_ids
from flow.process.jobs import RunInfo
from flow.states import RunType
from flow.timetables.zone import load_zone


def imagined_run(
    spec: DagSpec,
    date: str | None,
    now: datetime,
    *,
    conf: Mapping[str, object] | None = None,
    version: int = 0,
) -> RunInfo:
    """A manual run, for the interval that starts at `date`, else for the latest complete one.

    Raises `UsageError` for a date that is no interval's start.
    """
    if date is None:
        slice_ = intervals.latest(spec, now)
    else:
        slice_ = intervals.of_date(spec, parse_date(date, load_zone(spec.timezone), now).start)
    of_interval = slice_.interval_run
    return RunInfo(
        dag_id=spec.dag_id,
        run_id=run_ids.of_interval(slice_.logical_date) if of_interval else run_ids.ad_hoc(now),
        run_type=RunType.MANUAL,
        logical_date=slice_.logical_date,
        data_interval_start=slice_.interval.start,
        data_interval_end=slice_.interval.end,
        run_after=now,
        started_at=now,
        conf=json.dumps(conf or {}),
        version=version,
    )
