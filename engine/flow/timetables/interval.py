"""Timetables of touching data intervals, to be written as `schedule=` of a DAG.

A cron or a timedelta alone means the same; these give a cron a time zone of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta, tzinfo

from flow.timetables.schedule import cron_expression
from flow.timetables.stored import CronInterval, DeltaInterval
from flow.timetables.written import Written, seconds_of, zone_or


@dataclass(frozen=True)
class CronDataIntervalTimetable(Written):
    """From slot to slot of `cron`; the run of an interval is made at its end.

    Without a `timezone` it is read in the DAG's.
    """

    cron: str
    timezone: str | tzinfo | None = None

    def timetable(self, dag_id: str, timezone: str) -> CronInterval:
        """As it is stored."""
        return CronInterval(cron_expression(self.cron, dag_id), zone_or(self.timezone, timezone))


@dataclass(frozen=True)
class DeltaDataIntervalTimetable(Written):
    """Intervals of the length `delta`, counted from the DAG's start date in UTC."""

    delta: timedelta

    def timetable(self, dag_id: str, timezone: str) -> DeltaInterval:
        """As it is stored."""
        return DeltaInterval(seconds_of("delta", self.delta))
