"""Timetables as DAG files write them: complete once they know their DAG."""

from __future__ import annotations

from datetime import timedelta, tzinfo

from flow.errors import InvalidDag
from flow.timetables.stored import Timetable
from flow.timetables.zone_names import zone_name


class Written:
    """What `schedule=` takes besides texts and timedeltas."""

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({arguments})"

    def timetable(self, dag_id: str, timezone: str) -> Timetable:
        """The timetable of a DAG, as it is stored.

        `timezone` is the DAG's (IANA name), for what is written without one. Raises `InvalidDag`.
        """
        raise NotImplementedError


def zone_or(zone: str | tzinfo | None, default: str) -> str:
    """The IANA name of a zone that is written, else the default."""
    if zone is None:
        return default
    return zone if isinstance(zone, str) else zone_name(zone)


def seconds_of(name: str, value: object) -> float:
    """The seconds of a timedelta.

    Raises `InvalidDag` for anything else, also for one of pendulum's that speaks of months or
    years: its seconds are those of months of 30 days.
    """
    months = any(getattr(value, part, 0) for part in ("months", "years"))
    if not isinstance(value, timedelta) or months:
        raise InvalidDag(
            f"{name} must be a timedelta, not {value!r}",
            "write datetime.timedelta(hours=6); calendar months need a cron, such as '0 0 1 * *'",
        )
    return value.total_seconds()
