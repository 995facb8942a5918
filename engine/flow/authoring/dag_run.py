"""`dag_run` in the context: what a task may know of its run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pendulum import DateTime


@dataclass(frozen=True)
class RunDates:
    """The dates of a run, aware and in UTC, before they become pendulum's."""

    logical_date: datetime
    data_interval_start: datetime
    data_interval_end: datetime
    run_after: datetime
    start_date: datetime | None = None


def as_pendulum(moment: datetime) -> DateTime:
    """An aware datetime as pendulum's, in UTC."""
    # Imported here: `import flow` must stay cheap, and many tasks never look at a date.
    import pendulum

    return pendulum.instance(moment).in_timezone("UTC")


class DagRun:
    """A run, as its tasks see it. Dates are pendulum DateTimes in UTC."""

    def __init__(
        self,
        dag_id: str,
        run_id: str,
        run_type: str,
        dates: RunDates,
        conf: str = "{}",
        version: int = 0,
    ) -> None:
        self.dag_id = dag_id
        self.run_id = run_id
        self.run_type = run_type
        self.version = version
        """Number of the DAG version that the run is pinned to; 0 where there are no versions."""
        self._dates = dates
        self._conf = conf

    @cached_property
    def conf(self) -> Mapping[str, Any]:
        """What was given with `--conf`; {} when nothing was."""
        conf: dict[str, Any] = json.loads(self._conf)
        return conf

    @cached_property
    def logical_date(self) -> DateTime:
        """The start of the data interval, or the moment of a run without one."""
        return as_pendulum(self._dates.logical_date)

    @cached_property
    def data_interval_start(self) -> DateTime:
        """Inclusive start of the data that the run is for."""
        return as_pendulum(self._dates.data_interval_start)

    @cached_property
    def data_interval_end(self) -> DateTime:
        """Exclusive end of the data that the run is for."""
        return as_pendulum(self._dates.data_interval_end)

    @cached_property
    def run_after(self) -> DateTime:
        """The run could not start before."""
        return as_pendulum(self._dates.run_after)

    @cached_property
    def start_date(self) -> DateTime | None:
        """When the run started."""
        started = self._dates.start_date
        return as_pendulum(started) if started else None

    def __repr__(self) -> str:
        return f"<DagRun {self.dag_id} {self.run_id}>"
