"""A timetable of listed dates, to be written as `schedule=` of a DAG."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from flow.errors import InvalidDag
from flow.timetables.stored import Events
from flow.timetables.written import Written
from flow.timetables.zone import as_utc, load_zone


class EventsTimetable(Written):
    """A run at each of `event_dates`, in any order; dates given twice count once.

    Naive dates are in the DAG's time zone. `restrict_to_events` and `presorted` are accepted and
    change nothing: a run made by hand without a date has the interval of the last event anyway, and
    `flow run --date` takes only dates of events.
    """

    def __init__(
        self,
        event_dates: Iterable[datetime],
        restrict_to_events: bool = False,
        presorted: bool = False,
        description: str | None = None,
    ) -> None:
        self.event_dates = tuple(event_dates)
        self.restrict_to_events = restrict_to_events
        self.presorted = presorted
        self.description = description

    def timetable(self, dag_id: str, timezone: str) -> Events:
        """As it is stored."""
        zone = load_zone(timezone)
        for date in self.event_dates:
            if not isinstance(date, datetime):
                raise InvalidDag(
                    f"event date {date!r} is no datetime", "write datetime(2026, 1, 31, 12)"
                )
        aware = (
            date if date.tzinfo is not None else date.replace(tzinfo=zone)
            for date in self.event_dates
        )
        return Events(tuple(sorted({as_utc(date) for date in aware})), self.description)
