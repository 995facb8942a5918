"""Workers as they are, except that their processes are only written down.

`Processes` knows which tries have a process now, so that no two processes of one task can go
unnoticed, and how those ended that are over.
"""

from __future__ import annotations

import os
from functools import partial
from itertools import count
from pathlib import Path

from model.reference import Fate, RunId, TaskId

from flow.process.events import Event, JobEnded, JobStarted, ZygoteDied
from flow.process.jobs import Job, TaskJob
from flow.process.messages import Outcome
from flow.roles.work import worker as product
from flow.roles.work.settings import Settings
from flow.roles.work.worker import Worker
from flow.store.connect import Conn

SLOTS = 2


class Try:
    """A process: of a try of a task, or of a callback (then it is about nothing)."""

    def __init__(self, id: TaskId | None, number: int) -> None:
        self.id = id
        self.number = number
        self.told_to_stop = False


class Processes:
    """Every process of every worker."""

    def __init__(self) -> None:
        self.alive: dict[TaskId, Try] = {}
        self.started: set[tuple[TaskId, int]] = set()
        self.fates: dict[tuple[TaskId, int], Fate] = {}
        self.gone: set[int] = set()
        """Workers all of whose processes are dead, and which do not know it or are dead too."""

    def forget(self) -> None:
        """Begin anew."""
        for known in (self.alive, self.started, self.fates, self.gone):
            known.clear()

    def start(self, one: Try) -> None:
        """A process begins."""
        if one.id is not None:
            assert one.id not in self.alive, f"two processes of {one.id} at once"
            self.alive[one.id] = one
            self.started.add((one.id, one.number))

    def end(self, one: Try, fate: Fate) -> None:
        """A process is dead."""
        if one.id is not None:
            del self.alive[one.id]
            self.fates[one.id, one.number] = fate


class Host:
    """In the place of the product's: a zygote with its jobs."""

    def __init__(self, processes: Processes, *_: object, **__: object) -> None:
        self.processes = processes
        self.jobs: dict[int, Try] = {}
        self.worker: Worker | None = None
        self._numbers = count(1)
        self._events: list[Event] = []
        self._expired = False

    @property
    def process_id(self) -> int:
        """The row of the worker whose zygote this is."""
        assert self.worker is not None
        return self.worker.process_id or 0

    def start(self, job: Job) -> int:
        job_id = next(self._numbers)
        if isinstance(job, TaskJob):
            id = TaskId(RunId(job.run.dag_id, job.run.run_id), job.task_id)
            one = Try(id, job.try_number)
        else:
            one = Try(None, 0)
        self.processes.start(one)
        self.jobs[job_id] = one
        self._events.append(JobStarted(job_id, 4242))
        if self._expired:
            self.expire()
        elif one.id is None:
            self.end(job_id, "success")
        return job_id

    def stop(self, job_id: int, grace: float) -> None:
        if job_id in self.jobs:
            self.jobs[job_id].told_to_stop = True
            if grace == 0:
                self.end(job_id, "drained")

    def renew(self, until: float) -> None:
        self._expired = False
        self.processes.gone.discard(self.process_id)

    def reply(self, job_id: int, message: object) -> None:
        raise AssertionError("nobody asked")

    def events(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def restart(self) -> None:
        self._expired = False

    def close(self) -> None:
        self.jobs.clear()

    # ── what a test does to it ───────────────────────────────────────────────────────────────────

    def end(self, job_id: int, how: str, skips: tuple[str, ...] = ()) -> None:
        """A process ends. `drained` is the end of one that was told to stop."""
        one = self.jobs.pop(job_id)
        self.processes.end(one, Fate(how, self.process_id, skips))
        match how:
            case "success" | "skipped":
                result = Outcome(state=how, skips=skips)
                self._events.append(JobEnded(job_id, result, exit_code=0))
            case "failed" | "fatal":
                result = Outcome(state="failed", reason="x", retry=how == "failed")
                self._events.append(JobEnded(job_id, result, exit_code=1))
            case "drained":
                self._events.append(JobEnded(job_id, None, signal=15, killed="stop"))
            case "lease_expired":
                self._events.append(JobEnded(job_id, None, signal=9, killed="lease"))

    def expire(self) -> None:
        """The lease has run out: the zygote kills everything."""
        self._expired = True
        for job_id in list(self.jobs):
            self.end(job_id, "lease_expired")

    def die(self) -> None:
        """The zygote dies, and all its processes with it."""
        for one in self.jobs.values():
            self.processes.end(one, Fate("lost", self.process_id))
        self._events.append(ZygoteDied(tuple(self.jobs), None, 9))
        self.jobs.clear()


class Seat:
    """A place where one worker after the other works, with one home."""

    def __init__(self, home: Path, dsn: str, processes: Processes) -> None:
        self._processes = processes
        self._settings = Settings(
            dsn=dsn,
            listen_dsn=dsn,
            version="test",
            home=home,
            logs=home / "logs",
            key_file=home / "key",
            slots=SLOTS,
            heartbeat=1e6,
            min_free_memory=0.0,
        )
        self.ending = False
        self.worker = self._next()

    def _next(self) -> Worker:
        worker = Worker(self._settings)
        assert isinstance(worker.host, Host)  # `in_place_of_hosts` is in force
        worker.host.worker = worker
        self.ending = False
        return worker

    @property
    def host(self) -> Host:
        assert isinstance(self.worker.host, Host)
        return self.worker.host

    def turn(self, conn: Conn) -> None:
        """What the worker's loop does each time."""
        worker = self.worker
        worker.backlog = True
        worker.listen()
        if self.ending and not worker.draining:
            worker.start_drain(conn)
            worker.stop_all(1.0)
        worker.tend(conn)
        if worker.draining and worker.idle:
            worker.retire(conn)
            self.worker = self._next()

    def beat(self, conn: Conn) -> None:
        """A turn that begins with a heartbeat."""
        self.worker.look_for_stale()
        self.turn(conn)

    def die(self) -> None:
        """The worker is killed; its zygote sees that and kills everything. Another one begins."""
        self.host.die()
        if self.worker.process_id is not None:
            self._processes.gone.add(self.worker.process_id)
        descriptor = self.worker.marker._descriptor
        if descriptor is not None:
            os.close(descriptor)  # the kernel does that; the file stays
        self.worker = self._next()

    def close(self) -> None:
        self.worker.marker.drop()


def in_place_of_hosts(processes: Processes) -> tuple[object, str, object]:
    """What a test has to put where, so that workers have such hosts."""
    return product, "Host", partial(Host, processes)
