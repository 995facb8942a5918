"""When a DAG runs: timetables as data, and the pure functions that read them.

A timetable is stored inside the DAG's spec. It cuts time into **data intervals** that touch each
other; the run of an interval is created when the interval has ended, and its logical date is the
interval's start. Nothing here does I/O or looks at a clock: callers pass `now`. Moments go in
aware, in any zone, and come out in UTC. A naive moment is a `ValueError`.

Boundaries of a cron timetable
    The cron expression names *wall-clock slots* in the timetable's zone. Each slot becomes an
    instant by one rule: **of the instants that the zone's clock allows for it, the later one**.

    - A slot inside a gap (clocks go forward) is moved forward by the length of the gap: 02:30
      becomes 03:30 when 02:00–03:00 is missing. Slots that then meet on one instant count once.
    - A slot inside a fold (clocks go back) is taken once, at its second pass, so whoever runs at
      02:30 has seen everything that was ever stamped earlier than 02:30.
    - Only an expression that speaks of a rhythm rather than of hours fires in both passes: its
      hour field admits all 24 hours, or its minute field begins with `*`. So `30 * * * *` and
      `*/30 1-4 * * *` go on without a pause, while `0 */2 * * *` names twelve hours, once each.

    Every day that exists has exactly one run of a daily cron, and the intervals still touch.

Day of month and day of week
    When both fields are restricted a day has to match one of them. A field that begins with `*`
    (`*`, `*/1`, `*/2`) counts as unrestricted; then a day has to match both. So `0 0 */1 * 5` is
    every Friday and `0 10 1-7 * 1` is the first seven days and every Monday; the first Monday is
    `0 10 * * MON#1`.

Boundaries of a delta timetable
    Fixed distances in UTC, counted in both directions from the DAG's start date, or from
    1970-01-01T00:00Z for a DAG without one. Changes of the local clock do not matter.

What the scheduler stores is one moment for each DAG, the *cursor*: see `plan`.
"""

from __future__ import annotations

from flow.timetables.intervals import (
    Interval,
    interval_after,
    interval_at,
    is_boundary,
    latest_complete,
    neighbours,
    next_interval,
)
from flow.timetables.plan import Catchup, Planned, plan_next
from flow.timetables.schedule import parse
from flow.timetables.timetable import CronInterval, DeltaInterval, Never, Once, Timetable
from flow.timetables.words import describe

__all__ = [
    "Catchup",
    "CronInterval",
    "DeltaInterval",
    "Interval",
    "Never",
    "Once",
    "Planned",
    "Timetable",
    "describe",
    "interval_after",
    "interval_at",
    "is_boundary",
    "latest_complete",
    "neighbours",
    "next_interval",
    "parse",
    "plan_next",
]
