"""A deployment at work, step by step: DAGs are stored as a DAG processor stores them, a scheduler
makes its passes when asked to, and a worker claims and reports without running anything.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flow.config import load
from flow.decide import Ending
from flow.graph import DagSpec, TaskSpec, encode, spec_hash
from flow.graph.imported import ImportedDag
from flow.ops.deployment import Deployment
from flow.roles.schedule.role import Scheduler, Settings
from flow.states import TaskState, TryState
from flow.store import dags, processes, tries
from flow.store.connect import Conn, transaction
from flow.store.dag_files import ParsedFile
from flow.store.tries import Claim, Claimed, Report
from flow.timetables import parse

CHAIN: Mapping[str, tuple[str, ...]] = {"extract": (), "load": ("extract",), "report": ("load",)}


@dataclass
class World:
    """One deployment. `worker` is the process id of a worker that serves queue `default`."""

    dsn: str
    conn: Conn
    home: Path
    worker: int = 0
    scheduler: Scheduler = field(init=False)

    def __post_init__(self) -> None:
        settings = Settings(dsn=self.dsn, listen_dsn=self.dsn, version="test")
        self.scheduler = Scheduler(settings, self.conn)

    @property
    def deployment(self) -> Deployment:
        """The deployment as an operation gets it."""
        environ = {"FLOW_HOME": str(self.home), "FLOW_DATABASE_URL": "postgresql://unused"}
        return Deployment(load(environ=environ, folder=self.home).settings, self.conn)

    def define(
        self,
        dag_id: str,
        tasks: Mapping[str, tuple[str, ...]] | Iterable[TaskSpec] = CHAIN,
        *,
        schedule: Any = None,
        timezone: str = "UTC",
        paused: bool = False,
        file: str = "/dags/one.py",
        code_hash: str = "c0de" * 16,
        **fields: Any,
    ) -> None:
        """Store a DAG, given as the upstream ids of each task or as specs."""
        if isinstance(tasks, Mapping):
            tasks = [
                TaskSpec(task_id=task_id, operator="BashOperator", upstream=upstream)
                for task_id, upstream in sorted(tasks.items())
            ]
        spec = DagSpec(
            dag_id=dag_id,
            tasks=tuple(tasks),
            timetable=parse(schedule, timezone=timezone),
            timezone=timezone,
            **fields,
        )
        body = encode(spec)
        definition = ImportedDag(spec, body, spec_hash(body), 3, spec.timetable.words())
        with transaction(self.conn, "test"):
            dags.store(self.conn, ParsedFile(file, code_hash), [definition], paused=paused)

    def start_worker(self) -> None:
        """Register a worker."""
        with transaction(self.conn, "test"):
            self.worker = processes.register(
                self.conn,
                role="work",
                host=socket.gethostname(),
                pid=os.getpid(),
                version="test",
                lost_after=300.0,
                executor="local",
                queues=["default"],
                slots=16,
            )

    def start_scheduler(self) -> None:
        """Register a scheduler that lives, as far as the database knows."""
        self.conn.execute(
            "insert into process (role, host, pid, version, lost_after)"
            " values ('schedule', 'here', 2, 'test', 300)"
        )

    def schedule(self) -> None:
        """Let the scheduler do all that is due."""
        while self.scheduler.run_once():
            pass

    def claim(self, limit: int = 100) -> dict[str, Claimed]:
        """Take queued tasks, by task id (of one run)."""
        with transaction(self.conn, "test"):
            claimed = tries.claim(
                self.conn,
                worker=self.worker,
                host=socket.gethostname(),
                executor="local",
                queues=["default"],
                limit=limit,
            )
            tries.started(self.conn, [(one.key, 4242, f"/logs/{one.task_id}") for one in claimed])
        return {one.task_id: one for one in claimed}

    def end(
        self, claimed: Claimed, state: TaskState = TaskState.SUCCESS, value: str | None = None
    ) -> set[Claim]:
        """Report how a try ended; the claims that still counted."""
        ending = Ending(
            state,
            TryState(state.value),
            exit_code=0 if state is TaskState.SUCCESS else 1,
            peak_rss=1_000_000,
            cpu_time=0.5,
            value=value,
        )
        with transaction(self.conn, "test"):
            return tries.report(self.conn, [Report(claimed.key, ending)])

    def finish(self, states: Mapping[str, TaskState] | None = None) -> None:
        """Let everything run to its end: success, unless `states` says otherwise by task id."""
        self.schedule()
        while claimed := self.claim(1):
            for task_id, one in claimed.items():
                self.end(one, (states or {}).get(task_id, TaskState.SUCCESS))
            self.schedule()

    def fix_what_varies(self) -> None:
        """Give all that has ended the same times, host and process id: what is shown of it is
        always the same."""
        for table in ("run", "task_history", "try_history"):
            self.conn.execute(
                f"update {table} set started_at = case when started_at is not null"
                " then timestamptz '2026-07-10 00:00:01+00' end,"
                " ended_at = timestamptz '2026-07-10 00:01:05+00'"
            )
        self.conn.execute("update process set pid = 7")
        self.conn.execute("update try_history set host = 'here'")

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """What a statement returns."""
        return self.conn.execute(statement, values).fetchall()

    def value(self, statement: str, *values: object) -> Any:
        """The first column of the first row."""
        return self.rows(statement, *values)[0][0]

    def states(self, run_id: str) -> dict[str, str]:
        """States by task of a run; tasks without a row are absent."""
        return dict(
            self.rows(
                "select t.task_id, t.state from task t join run r using (run_key)"
                " where r.run_id = %s order by t.task_id",
                run_id,
            )
        )
