"""From what a DAG file writes as `schedule=` to a timetable."""

from __future__ import annotations

from datetime import timedelta

from flow.errors import InvalidDag
from flow.timetables.cron import load_cron
from flow.timetables.timetable import CronInterval, DeltaInterval, Never, Once, Timetable
from flow.timetables.zone import load_zone

PRESETS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@quarterly": "0 0 1 */3 *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
"""Names for cron expressions, with the meaning that Airflow gave them."""

_ACCEPTED = (
    f"a five-field cron expression, one of {', '.join(PRESETS)}, @once, a timedelta, or None"
)
_HINT = "Write one of these, or schedule=None and start runs with `flow run`."
_SHORTEST = timedelta(seconds=1)
_LONGEST = timedelta(days=36525)


def parse(schedule: str | timedelta | None, timezone: str) -> Timetable:
    """The timetable of a schedule in a time zone (IANA name).

    Raises `InvalidDag` naming what cannot be read and what is accepted. The annotation says what
    is accepted; anything else a DAG file passes is refused by name.
    """
    load_zone(timezone)
    if schedule is None:
        return Never()
    if isinstance(schedule, timedelta):
        return _parse_delta(schedule)
    if isinstance(schedule, str):
        return _parse_text(schedule, timezone)
    raise _not_yet(f"a schedule of type {type(schedule).__name__}")


def _parse_text(schedule: str, timezone: str) -> Timetable:
    text = " ".join(schedule.split())
    name = text.lower()
    if name == "@once":
        return Once()
    if name in PRESETS:
        return CronInterval(PRESETS[name], timezone)
    if name == "@continuous":
        raise _not_yet(f"schedule {schedule!r}")
    if not text or text.startswith("@"):
        raise InvalidDag(f"schedule {schedule!r} is unknown; accepted are {_ACCEPTED}", _HINT)
    load_cron(text)
    return CronInterval(text, timezone)


def _parse_delta(schedule: timedelta) -> DeltaInterval:
    if not _SHORTEST <= schedule <= _LONGEST:
        raise InvalidDag(
            f"schedule {schedule!r} is not possible; accepted are timedeltas from one second to "
            "a hundred years",
            _HINT,
        )
    return DeltaInterval(schedule.total_seconds())


def _not_yet(what: str) -> InvalidDag:
    return InvalidDag(f"{what} is not supported yet; accepted are {_ACCEPTED}", _HINT)
