"""Many DAGs, stored at once: what parsing 20,000 of them would leave in the database."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from flow.graph import DagSpec, TaskSpec, encode, head, spec_hash
from flow.graph.index import binding_run_limit, pools_of
from flow.store.connect import Conn
from flow.timetables import parse

ROOTS: Final = 3
OTHERS: Final = 22
TEAMS: Final = 40


def rooted_spec(number: int) -> DagSpec:
    """A DAG of 25 tasks, 3 of which wait for nobody."""
    roots = [TaskSpec(task_id=f"root_{root}", operator="PythonOperator") for root in range(ROOTS)]
    others = [
        TaskSpec(
            task_id=f"task_{other:02}", operator="PythonOperator", upstream=(f"root_{other % 3}",)
        )
        for other in range(OTHERS)
    ]
    return DagSpec(
        dag_id=f"team{number % TEAMS}.dag_{number}",
        tasks=(*roots, *others),
        timetable=parse("@daily", "UTC"),
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
    )


def store_specs(conn: Conn, specs: Sequence[DagSpec]) -> dict[str, str]:
    """Store specs; their hashes by DAG id, in order."""
    hashes = {}
    with (
        conn.cursor() as cursor,
        cursor.copy("copy spec (hash, body, head) from stdin") as copy,
    ):
        for spec in specs:
            body, first = encode(spec), head(spec)
            hashes[spec.dag_id] = spec_hash(body)
            copy.write_row(
                (hashes[spec.dag_id], body.decode(), encode(first).decode() if first else None)
            )
    conn.execute("vacuum analyze spec")
    return hashes


def store_dags(
    conn: Conn,
    specs: Sequence[DagSpec],
    hashes: Mapping[str, str],
    *,
    cursor: datetime | None,
    due: Callable[[int], datetime | None],
    max_active_runs: int = 16,
) -> None:
    """Store DAGs and their first versions. `due` says when the DAG of a number is looked at."""
    names = (
        "dag_id, file, paused, version, schedule, timezone, catchup, owner, max_active_runs, "
        "cursor_at, next_start, next_end, next_run_at"
    )
    with conn.transaction(), conn.cursor() as rows:
        with rows.copy(f"copy dag ({names}) from stdin") as copy:
            for number, dag_id in enumerate(spec.dag_id for spec in specs):
                moment = due(number)
                start = moment - timedelta(days=1) if moment else None
                copy.write_row(
                    (dag_id, "/dags/stored.py", False, 1, "daily", "UTC", "false", "team",
                     max_active_runs, cursor, start, moment, moment)
                )  # fmt: skip
        with rows.copy(
            "copy dag_version (dag_id, number, spec_hash, code_hash, bundle, max_active_tasks, "
            "pools) from stdin"
        ) as copy:
            for spec in specs:
                copy.write_row(
                    (spec.dag_id, 1, hashes[spec.dag_id], "code", "local", binding_run_limit(spec),
                     json.dumps(pools_of(spec)))
                )  # fmt: skip
    conn.execute("vacuum analyze dag, dag_version")
