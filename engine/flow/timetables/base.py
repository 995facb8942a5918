"""Timetables of your own: subclass `Timetable` and write an instance as `schedule=` of a DAG.

Names and meanings are those of Airflow's `airflow.timetables.base`. Flow calls `next_dagrun_info`
ahead, in the process that imports the DAG file, and stores what it answers: no scheduler runs it.
Moments that are handed in are pendulum DateTimes in UTC; answers may be any aware datetimes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from flow.errors import InvalidDag
from flow.timetables.custom import Custom
from flow.timetables.written import Written

if TYPE_CHECKING:
    from pendulum import DateTime


class DataInterval(NamedTuple):
    """The slice of time that a run is about."""

    start: DateTime
    end: DateTime

    @classmethod
    def exact(cls, at: DateTime) -> DataInterval:
        """The empty interval at a moment."""
        return cls(at, at)


class TimeRestriction(NamedTuple):
    """What the DAG says of its runs: its start and end date, and whether it catches up.

    Flow keeps to all three whatever a timetable answers; heeding them saves work.
    """

    earliest: DateTime | None
    latest: DateTime | None
    catchup: bool


class DagRunInfo(NamedTuple):
    """A run to be made: not before `run_after`, for `data_interval`."""

    run_after: DateTime
    data_interval: DataInterval

    @classmethod
    def exact(cls, at: DateTime) -> DagRunInfo:
        """A run at a moment, about that moment."""
        return cls(at, DataInterval.exact(at))

    @classmethod
    def interval(cls, start: DateTime, end: DateTime) -> DagRunInfo:
        """A run at the end of an interval."""
        return cls(end, DataInterval(start, end))

    @property
    def logical_date(self) -> DateTime:
        """The start of the interval."""
        return self.data_interval.start


class Timetable(Written):
    """A schedule in code. `next_dagrun_info` is all that has to be written.

    A run made by hand without a date is about the latest complete interval, as with every other
    schedule, so `infer_manual_data_interval` is accepted and not called; nor are `deserialize`,
    since a timetable is only asked in a process that has imported its file, and `generate_run_id`.
    """

    description: str = ""
    """What people read as the schedule; empty: `summary`."""
    active_runs_limit: ClassVar[int | None] = None
    """The most active runs that a DAG with this timetable may have."""

    def next_dagrun_info(
        self,
        *,
        last_automated_data_interval: DataInterval | None,
        restriction: TimeRestriction,
    ) -> DagRunInfo | None:
        """The run after the one for `last_automated_data_interval`; None: there is none.

        Without one it is the first. Starts have to rise, and moments of runs may not fall.
        """
        raise NotImplementedError(f"{type(self).__name__} has to define next_dagrun_info")

    def infer_manual_data_interval(self, *, run_after: DateTime) -> DataInterval:
        """The interval of a run made by hand."""
        return DataInterval.exact(run_after)

    def serialize(self) -> dict[str, Any]:
        """Its arguments as JSON has them: when they change, so does the version of the DAG."""
        return {}

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> Timetable:
        """The timetable of arguments as `serialize` gave them."""
        return cls()

    def validate(self) -> None:
        """Raise what is wrong with the arguments; called while the file is imported."""

    @property
    def summary(self) -> str:
        """What people read as the schedule where there is no `description`."""
        return type(self).__name__

    def timetable(self, dag_id: str, timezone: str) -> Custom:
        """As it is stored. Raises `InvalidDag` for what `serialize` and `validate` object to."""
        try:
            self.validate()
            state = msgspec.json.encode(self.serialize(), order="sorted").decode()
        except InvalidDag:
            raise
        except Exception as error:
            raise InvalidDag(
                f"timetable {type(self).__name__}: {type(error).__name__}: {error}",
                "mend its validate() or serialize(); the latter returns what JSON can say",
            ) from error
        return Custom(type(self).__qualname__, state, self.description or self.summary)
