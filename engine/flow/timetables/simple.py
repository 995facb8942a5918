"""Timetables without arguments, to be written as `schedule=` of a DAG; texts say the same."""

from __future__ import annotations

from dataclasses import dataclass

from flow.timetables.single import Continuous, Never, Once
from flow.timetables.written import Written


@dataclass(frozen=True)
class NullTimetable(Written):
    """No schedule, as `schedule=None`."""

    def timetable(self, dag_id: str, timezone: str) -> Never:
        """As it is stored."""
        return Never()


@dataclass(frozen=True)
class OnceTimetable(Written):
    """One run at the start date, or now, as `schedule="@once"`."""

    def timetable(self, dag_id: str, timezone: str) -> Once:
        """As it is stored."""
        return Once()


@dataclass(frozen=True)
class ContinuousTimetable(Written):
    """One run after the other, as `schedule="@continuous"`; needs max_active_runs=1."""

    def timetable(self, dag_id: str, timezone: str) -> Continuous:
        """As it is stored."""
        return Continuous()
