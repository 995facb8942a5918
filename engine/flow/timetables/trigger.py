"""Timetables that make a run at each tick, to be written as `schedule=` of a DAG."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta, tzinfo

from flow.timetables.schedule import cron_expression
from flow.timetables.stored import CronTrigger, DeltaTrigger
from flow.timetables.written import Written, seconds_of, zone_or

_NONE = timedelta(0)


@dataclass(frozen=True)
class CronTriggerTimetable(Written):
    """A run at each slot of `cron`, for the `interval` before it.

    The logical date is the interval's start: the slot itself unless an interval is given. Without a
    `timezone` the cron is read in the DAG's.

    `run_immediately` is for a DAG without a start date, when Flow first sees it: begin with the
    slot that has passed last (True), with the next one (False), or with the last one if it is at
    most that long ago (a timedelta), at most a tenth of the way to the next or five minutes (None).
    """

    cron: str
    timezone: str | tzinfo | None = None
    interval: timedelta = _NONE
    run_immediately: bool | timedelta | None = False

    def timetable(self, dag_id: str, timezone: str) -> CronTrigger:
        """As it is stored."""
        crons = MultipleCronTriggerTimetable(
            self.cron,
            timezone=self.timezone,
            interval=self.interval,
            run_immediately=self.run_immediately,
        )
        return crons.timetable(dag_id, timezone)


class MultipleCronTriggerTimetable(Written):
    """A run at each slot of several crons, one where they meet; otherwise the same."""

    def __init__(
        self,
        *crons: str,
        timezone: str | tzinfo | None = None,
        interval: timedelta = _NONE,
        run_immediately: bool | timedelta | None = False,
    ) -> None:
        self.crons = crons
        self.timezone = timezone
        self.interval = interval
        self.run_immediately = run_immediately

    def timetable(self, dag_id: str, timezone: str) -> CronTrigger:
        """As it is stored."""
        return CronTrigger(
            expressions=tuple(cron_expression(cron, dag_id) for cron in self.crons),
            timezone=zone_or(self.timezone, timezone),
            interval=seconds_of("interval", self.interval),
            run_immediately=self.run_immediately
            if isinstance(self.run_immediately, bool | None)
            else seconds_of("run_immediately", self.run_immediately),
        )


@dataclass(frozen=True)
class DeltaTriggerTimetable(Written):
    """A run every `delta`, counted from the DAG's start date in UTC, for the `interval` before."""

    delta: timedelta
    interval: timedelta = _NONE

    def timetable(self, dag_id: str, timezone: str) -> DeltaTrigger:
        """As it is stored."""
        return DeltaTrigger(seconds_of("delta", self.delta), seconds_of("interval", self.interval))
