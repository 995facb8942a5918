"""When a DAG runs: timetables as data, and the pure functions that read them.

Nothing here does I/O or looks at a clock: callers pass `now`. Moments go in aware, in any zone, and
come out in UTC. A naive moment is a `ValueError`. All rules are on one page: flow-time(7).

Three storeys: *ticks* are instants that a cron or a distance names (`ticks`, on `cron` and `zone`);
*kinds* make intervals of them and answer what `kind.Kind` asks (`recurring` and `single` say how,
`stored` which there are); `questions` and `plan` are what everybody else asks, of any kind. What
DAG files write as `schedule=` becomes a kind by `schedule.parse`; the classes they may write stand
where Airflow has them: `interval`, `trigger`, `events`, `simple`.

What the scheduler stores is one moment for each DAG, the *cursor*: see `plan`.
"""

from __future__ import annotations

from flow.timetables.custom import Custom, Evaluation, Row
from flow.timetables.kind import Catchup, Interval, Kind
from flow.timetables.plan import Planned, opening_cursor, plan_next
from flow.timetables.questions import (
    interval_of,
    intervals_from,
    latest_complete,
    neighbours,
    next_interval,
)
from flow.timetables.schedule import parse
from flow.timetables.single import Continuous, Never, Once
from flow.timetables.stored import (
    CronInterval,
    CronTrigger,
    DeltaInterval,
    DeltaTrigger,
    Events,
    Timetable,
)

__all__ = [
    "Catchup",
    "Continuous",
    "CronInterval",
    "CronTrigger",
    "Custom",
    "DeltaInterval",
    "DeltaTrigger",
    "Evaluation",
    "Events",
    "Interval",
    "Kind",
    "Never",
    "Once",
    "Planned",
    "Row",
    "Timetable",
    "interval_of",
    "intervals_from",
    "latest_complete",
    "neighbours",
    "next_interval",
    "opening_cursor",
    "parse",
    "plan_next",
]
