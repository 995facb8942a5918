"""Asking timetables of the user's own which intervals come, in the process that has their file.

What a timetable does wrong is its own DAG's: the answer then holds the intervals it had given and
why there are no more. A timetable that never answers is interrupted, so that its file is stored
nevertheless; one that hangs in C code is ended together with the import.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from flow.authoring.dag import DAG
from flow.authoring.dag_run import as_pendulum
from flow.authoring.moments import utc
from flow.errors import InvalidDag
from flow.process import trace
from flow.process.messages import Evaluated, SchedulePosition
from flow.process.time_limit import call_within
from flow.timetables.base import DataInterval, TimeRestriction, Timetable
from flow.timetables.custom import MOST_ROWS, Row, checked
from flow.timetables.kind import later

SECONDS: Final = 5.0
"""Of a processor, for one timetable: on a busy machine that takes longer."""
_REAL: Final = 4.0
"""So many times as much it may take by the clock, for it may also wait."""
SECONDS_OF_FILE: Final = 30.0
"""For all timetables of a file; less than an import may take."""
_STEPS: Final = 100_000
"""Intervals looked at, mostly those of the past."""
_HORIZON: Final = timedelta(days=400)
_LEAST_ROWS: Final = 16
"""Intervals listed also beyond the horizon."""


def evaluate(
    dags: Iterable[DAG], position: Callable[[str], SchedulePosition], seconds: float = SECONDS
) -> tuple[Evaluated, ...]:
    """What each timetable of a class of the user's says, of those that the DAGs have.

    `position` is asked before any of them: a timetable that is interrupted may leave it unusable.
    """
    custom = {dag.dag_id: dag for dag in dags if isinstance(dag.schedule, Timetable)}
    positions = {dag_id: position(dag_id) for dag_id in custom}
    return tuple(_evaluate_all(custom, positions, seconds))


def _evaluate_all(
    custom: Mapping[str, DAG], positions: Mapping[str, SchedulePosition], seconds: float
) -> Iterator[Evaluated]:
    until = time.monotonic() + SECONDS_OF_FILE
    for dag_id, dag in custom.items():
        left = min(_REAL * seconds, until - time.monotonic())
        if left <= 0:
            yield Evaluated(
                dag_id=dag_id,
                error=f"the timetables of this file took more than {SECONDS_OF_FILE:g} s",
            )
        else:
            yield _evaluate(dag, positions[dag_id], seconds, left)


def _evaluate(dag: DAG, position: SchedulePosition, seconds: float, left: float) -> Evaluated:
    rows: list[Row] = []
    try:
        listing = _Listing(dag, position, datetime.now(UTC), rows)
        by_clock = partial(call_within, left, listing.fill, timer=signal.ITIMER_REAL)
        dry = call_within(seconds, by_clock)
    except BaseException as error:
        return Evaluated(
            dag_id=dag.dag_id,
            rows=tuple(rows),
            error=trace.one_line(error),
            traceback=trace.user_traceback(error),
        )
    return Evaluated(dag_id=dag.dag_id, rows=tuple(rows), dry=dry)


class _Listing:
    """The intervals of one timetable, filled into `rows`."""

    def __init__(
        self, dag: DAG, position: SchedulePosition, now: datetime, rows: list[Row]
    ) -> None:
        self._timetable: Timetable = dag.schedule
        self._all = dag.catchup is True
        self._end = utc(dag.end_date)
        self._restriction = TimeRestriction(
            as_pendulum(dag.start_date) if dag.start_date else None,
            as_pendulum(dag.end_date) if dag.end_date else None,
            catchup=self._all,
        )
        self._last = position.last
        self._floor = later(utc(dag.start_date), position.cursor)
        self._now = now
        self._rows = rows

    def fill(self) -> bool:
        """List until it is enough; whether the timetable had no more."""
        before: Row | None = None
        for _ in range(_STEPS):
            info = self._timetable.next_dagrun_info(
                last_automated_data_interval=self._last_interval(), restriction=self._restriction
            )
            if info is None:
                return self._end is None
            row = _row(info)
            checked((row,) if before is None else (before, row))
            if self._last is not None and row.start <= self._last[0]:
                raise InvalidDag(
                    f"the interval from {row.start} does not come after the last one, which "
                    f"starts at {self._last[0]}"
                )
            if self._end is not None and row.start > self._end:
                return False
            before, self._last = row, (row.start, row.end)
            self._take(row)
            if self._is_enough():
                return False
        raise InvalidDag(f"{_STEPS} intervals, and all of them in the past")

    def _last_interval(self) -> DataInterval | None:
        return DataInterval(*map(as_pendulum, self._last)) if self._last is not None else None

    def _take(self, row: Row) -> None:
        if self._floor is not None and row.start < self._floor:
            return
        if not self._all and row.run_after <= self._now:
            self._rows.clear()  # only the latest one that is due gets a run
        self._rows.append(row)

    def _is_enough(self) -> bool:
        rows = self._rows
        if len(rows) >= MOST_ROWS:
            return True
        return len(rows) >= _LEAST_ROWS and rows[-1].run_after > self._now + _HORIZON


def _row(info: Any) -> Row:
    """What `next_dagrun_info` has answered, in UTC."""
    try:
        moments = (info.data_interval.start, info.data_interval.end, info.run_after)
    except AttributeError:
        raise InvalidDag(
            f"next_dagrun_info returned {info!r}", "return a DagRunInfo, or None for no more runs"
        ) from None
    for moment in moments:
        if not isinstance(moment, datetime):
            raise InvalidDag(f"next_dagrun_info returned {moment!r} as a moment: no datetime")
    # Plain datetimes: a pendulum one is another type on the wire.
    start, end, run_after = (
        datetime.combine(moment.date(), moment.time(), moment.tzinfo) for moment in moments
    )
    return checked((Row(start, end, run_after),))[0]
