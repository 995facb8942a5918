"""From what a DAG file writes as `schedule=` to a timetable."""

from __future__ import annotations

from datetime import timedelta

from flow.errors import InvalidDag
from flow.timetables.hashed import settle
from flow.timetables.single import Continuous, Never, Once
from flow.timetables.stored import CronInterval, DeltaInterval, Timetable
from flow.timetables.written import Written, seconds_of
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
    f"a five-field cron expression, one of {', '.join(PRESETS)}, @once, @continuous, a timedelta, "
    "a timetable, or None"
)
_HINT = "Write one of these, or schedule=None and start runs with `flow run`."


def parse(
    schedule: str | timedelta | Timetable | Written | None, timezone: str, dag_id: str = ""
) -> Timetable:
    """The timetable of a schedule in a time zone (IANA name); `dag_id` chooses hashed values.

    Raises `InvalidDag` naming what cannot be read and what is accepted. The annotation says what
    is accepted; anything else a DAG file passes is refused by name.
    """
    load_zone(timezone)
    timetable = _timetable(schedule, timezone, dag_id)
    timetable.check()
    return timetable


def cron_expression(text: str, dag_id: str) -> str:
    """A cron expression, or the name of one, as it is stored: in one form, without `H`."""
    written = " ".join(text.split())
    return PRESETS.get(written.lower()) or settle(written, dag_id)


def _timetable(schedule: object, timezone: str, dag_id: str) -> Timetable:
    if schedule is None:
        return Never()
    if isinstance(schedule, str):
        return _named(schedule, timezone, dag_id)
    if isinstance(schedule, timedelta):
        return DeltaInterval(seconds_of("schedule", schedule))
    if isinstance(schedule, Timetable):
        return schedule
    if isinstance(schedule, Written):
        return schedule.timetable(dag_id, timezone)
    raise InvalidDag(
        f"a schedule of type {type(schedule).__name__} is not supported yet; accepted are "
        f"{_ACCEPTED}",
        _HINT,
    )


def _named(schedule: str, timezone: str, dag_id: str) -> Timetable:
    name = schedule.strip().lower()
    if name == "@once":
        return Once()
    if name == "@continuous":
        return Continuous()
    if not name or (name.startswith("@") and name not in PRESETS):
        raise InvalidDag(f"schedule {schedule!r} is unknown; accepted are {_ACCEPTED}", _HINT)
    return CronInterval(cron_expression(schedule, dag_id), timezone)
