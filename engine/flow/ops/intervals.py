"""Which logical date and interval a run made by hand has. Pure.

Without a date it is ad hoc: its logical date is now, its interval the last complete one (`[now,
now]` without a schedule). With a date it is *the* run of that interval, and the date has to be an
interval's start; a DAG without a schedule takes it exactly. A given interval that is not one of the
schedule's makes an ad hoc run for it.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from flow.errors import UsageError
from flow.graph import DagSpec
from flow.timetables import Interval, interval_of, latest_complete, neighbours
from flow.timetables.zone import as_utc, load_zone


class Slice(NamedTuple):
    """What a run is about. `interval_run`: it is the run of an interval of the schedule."""

    logical_date: datetime
    interval: Interval
    interval_run: bool


def ad_hoc(spec: DagSpec, now: datetime) -> Slice:
    """A run for nobody's date."""
    last = latest_complete(spec.timetable, now, spec.start_date)
    return Slice(now, last or Interval(now, now), interval_run=False)


def latest(spec: DagSpec, now: datetime) -> Slice:
    """The run of the latest complete interval; an ad hoc one where there is none."""
    last = latest_complete(spec.timetable, now, spec.start_date)
    return Slice(last.start, last, interval_run=True) if last else ad_hoc(spec, now)


def of_date(spec: DagSpec, date: datetime) -> Slice:
    """The run of the interval that starts at `date`. Raises `UsageError` naming the neighbours."""
    found = interval_of(spec.timetable, date, spec.start_date)
    if found is None:
        raise _no_interval(spec, date)
    return Slice(found.start, found, interval_run=True)


def of_interval(spec: DagSpec, start: datetime, end: datetime) -> Slice:
    """The run of `[start, end)`, be it an interval of the schedule or not."""
    asked = Interval(as_utc(start), as_utc(end))
    if asked.end <= asked.start:
        wrong = "ends before it starts" if asked.end < asked.start else "is empty"
        raise UsageError(
            f"the interval {wrong}: {start.isoformat()} to {end.isoformat()}",
            "write the earlier moment first, --interval START END; a run for one moment is "
            "started with --date",
        )
    own = interval_of(spec.timetable, asked.start, spec.start_date)
    return Slice(asked.start, asked, interval_run=own == asked)


def _no_interval(spec: DagSpec, moment: datetime) -> UsageError:
    zone = load_zone(spec.timezone)
    before, after = neighbours(spec.timetable, moment, spec.start_date)
    named = [one.astimezone(zone).isoformat() for one in (before, after) if one is not None]
    return UsageError(
        f"no interval of DAG {spec.dag_id!r} starts at {moment.astimezone(zone).isoformat()}",
        f"its neighbours start at {' and '.join(named)}" if named else "its schedule has none",
    )
