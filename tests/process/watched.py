"""A host together with what it has told, and ways to wait for more."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from flow.process import tree
from flow.process.events import ChildMessage, Event, JobEnded, JobStarted, ZygoteReady
from flow.process.host import Host
from flow.process.jobs import RunInfo, TaskJob
from waiting import limit

E = TypeVar("E")

HANG = limit(20)
"""Seconds after which a test counts as hung."""

JOBS = Path(__file__).with_name("jobs.py")
COMMAND = (sys.executable, "-P", str(JOBS))
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def gone(pid: int) -> bool:
    return not tree.alive(pid)


class Watched:
    """A host with all events it has told so far."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.host = host
        self.folder = folder
        self.told: list[Event] = []
        self.answers: Callable[[ChildMessage], None] | None = None
        self._numbers = iter(range(1_000_000))

    def job(self, name: str, *, env: dict[str, str] | None = None, **conf: Any) -> TaskJob:
        return TaskJob(
            run=RunInfo(
                dag_id="dag",
                run_id="run",
                run_type="manual",
                logical_date=MOMENT,
                data_interval_start=MOMENT,
                data_interval_end=MOMENT,
                run_after=MOMENT,
                conf=json.dumps(conf),
            ),
            task_id=name,
            try_number=1,
            max_tries=1,
            file="dag.py",
            log=str(self.folder / "logs" / f"{name}.log"),
            env=env or {},
        )

    def start(self, name: str, **conf: Any) -> int:
        return self.host.start(self.job(name, **conf))

    def mark(self) -> str:
        """A path at which a job can leave its pid."""
        return str(self.folder / f"mark-{next(self._numbers)}")

    def start_marked(self, name: str, **conf: Any) -> tuple[int, int]:
        """Start a job and wait for its mark. Returns the job's number and its pid."""
        mark = self.mark()
        job_id = self.start(name, mark=mark, **conf)
        return job_id, self.pid_at(mark)

    def pid_at(self, mark: str) -> int:
        self.wait_until(lambda: os.path.exists(mark), f"the mark of {mark}")
        return int(Path(mark).read_text())

    def pump(self, seconds: float) -> None:
        """Hear what there is to hear, waiting for it at most so long."""
        select.select([self.host], [], [], seconds)
        for event in self.host.events():
            self.told.append(event)
            if isinstance(event, ChildMessage) and self.answers:
                self.answers(event)

    def wait_until(self, condition: Callable[[], Any], what: str) -> Any:
        deadline = time.monotonic() + HANG
        while not (value := condition()):
            assert time.monotonic() < deadline, f"waited in vain for {what}: {self.told[-10:]}"
            self.pump(0.01)
        return value

    def all(self, kind: type[E]) -> list[E]:
        return [event for event in self.told if isinstance(event, kind)]

    def wait_for(self, kind: type[E], **fields: Any) -> E:
        """The first event of a kind whose fields have these values."""

        def find() -> E | None:
            for event in self.all(kind):
                if all(getattr(event, name) == value for name, value in fields.items()):
                    return event
            return None

        found = self.wait_until(find, f"{kind.__name__} {fields}")
        assert isinstance(found, kind)
        return found

    def end_of(self, job_id: int) -> JobEnded:
        return self.wait_for(JobEnded, job_id=job_id)

    def pid_of(self, job_id: int) -> int:
        return self.wait_for(JobStarted, job_id=job_id).pid

    def value_of(self, job_id: int) -> Any:
        result = self.end_of(job_id).result
        assert result is not None, self.told
        return json.loads(result.value)  # type: ignore[union-attr]

    def ready(self) -> Watched:
        self.wait_for(ZygoteReady)
        return self
