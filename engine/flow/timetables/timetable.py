"""The kinds of timetable, as they are stored in a DAG's spec.

Another kind is another struct with its own tag; stored specs keep their meaning.
"""

from __future__ import annotations

import msgspec


class CronInterval(msgspec.Struct, frozen=True, tag_field="kind", tag="cron_interval"):
    """Intervals between neighbouring slots of a cron expression.

    `expression` has five fields; `timezone` is an IANA name.
    """

    expression: str
    timezone: str


class DeltaInterval(msgspec.Struct, frozen=True, tag_field="kind", tag="delta_interval"):
    """Intervals of a fixed length of `seconds`, counted from the DAG's start date."""

    seconds: float


class Once(msgspec.Struct, frozen=True, tag_field="kind", tag="once"):
    """One empty interval in the life of the DAG, at its start date."""


class Never(msgspec.Struct, frozen=True, tag_field="kind", tag="never"):
    """No schedule: runs are made by hand or by events."""


Timetable = CronInterval | DeltaInterval | Once | Never
"""Every kind of timetable; msgspec tells them apart by `kind`."""
