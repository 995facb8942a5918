"""What the lists and the home screen read: no statement goes through a big table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from psycopg import ClientCursor

from bench.stored import rooted_spec, store_dags, store_specs
from flow.config import load
from flow.ops import audit, backfills, dag_activity, dags, overview, pools, status
from flow.ops.deployment import Deployment
from flow.store.connect import Conn, connect
from postgres import PostgresServer, server  # noqa: F401

BIG: Final = """
select relname from pg_class where relkind = 'r' and reltuples > 2500
"""
"""Tables with a row for each DAG are smaller; so are history's partitions of months to come."""
READS: Final[dict[str, Callable[[Deployment], object]]] = {
    "home": lambda deployment: overview.show(deployment, 50),
    "dags": lambda deployment: dags.behind(deployment, "", 1_000),
    "dags in sight": lambda deployment: dags.some(deployment, ["dag_1", "dag_2"]),
    "last runs": lambda deployment: dag_activity.last_runs(deployment, ["dag_1", "dag_2"], 24),
    "backfills": lambda deployment: backfills.page(deployment, limit=200),
    "pools": pools.page,
    "roles": status.processes,
    "errors": dags.errors,
    "audit": lambda deployment: audit.page(deployment, limit=1_000),
}
_FILL: Final = (
    """insert into dag (dag_id, file, paused, version, schedule, timezone, catchup, owner,
         max_active_runs, cursor_at, next_start, next_end, next_run_at)
       select 'dag_' || number, '/dags/one.py', false, 1, schedule, timezone, catchup, owner,
         max_active_runs, cursor_at, next_start, next_end, next_run_at
       from dag, generate_series(1, 2000) number""",
    """insert into dag_version (dag_id, number, spec_hash, code_hash, bundle, pools)
       select d.dag_id, 1, v.spec_hash, v.code_hash, v.bundle, v.pools
       from dag d, dag_version v where d.dag_id <> v.dag_id""",
    """insert into run (dag_id, version, run_id, run_type, state, logical_date,
         data_interval_start, data_interval_end, interval_run, started_at, ended_at)
       select 'dag_' || number, 1, 'day_' || day, 'scheduled',
         case when day = 12 then 'running' when number % 100 = 0 then 'failed' else 'success' end,
         at, at, at, true, at, case when day < 12 then at end
       from generate_series(1, 2000) number, generate_series(1, 12) day,
         lateral (select timestamptz '2026-07-01' + day * interval '1 day') as moment(at)""",
    """insert into task_history (run_key, task_id, dag_id, state, try_number, pool, queue, executor,
         priority, ended_at)
       select run_key, 'task_' || number, dag_id, state, 1, 'default_pool', 'default', 'local', 1,
         ended_at
       from run, generate_series(1, 3) number where ended_at is not null""",
    """insert into task_hot (run_key, task_id, dag_id, state, try_number, pool, queue, executor,
         priority, scheduled_at, queued_at, started_at, ended_at, worker)
       select run_key, 'task_' || number, dag_id,
         case number when 1 then 'running' when 2 then 'queued' else 'success' end, 1,
         'default_pool', 'default', 'local', 1, started_at, started_at, started_at,
         case when number > 2 then started_at end, case when number = 1 then 1 end
       from run, generate_series(1, 12) number where state = 'running'""",
    """insert into try_hot (run_key, task_id, try_number, claim, state, started_at, ended_at,
         worker, host, executor, queue)
       select run_key, task_id, 1, 1, state, started_at, ended_at, 1, 'host', 'local', 'default'
       from task_hot where state <> 'queued'""",
    """insert into audit (os_user, host, verb, target)
       select 'flow', 'host', 'dags.pause', 'dag_' || number
       from generate_series(1, 20000) number""",
)


@pytest.fixture(scope="module")
def filled(server: PostgresServer) -> Iterator[str]:  # noqa: F811
    """The DSN of a database with some of everything that grows."""
    name = server.create()
    dsn = server.of(name)
    with connect(dsn, name="test") as conn:
        spec, never = rooted_spec(0), datetime(2100, 1, 1, tzinfo=UTC)
        hashes = store_specs(conn, [spec])
        store_dags(conn, [spec], hashes, cursor=never, due=lambda number: never)
        for statement in _FILL:
            conn.execute(statement)
        conn.execute("vacuum analyze")
    yield dsn
    server.drop(name)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_no_big_table_is_read_from_end_to_end(
    filled: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, read: Any
) -> None:
    environ = {"FLOW_HOME": str(tmp_path), "FLOW_DATABASE_URL": "postgresql://unused"}
    settings = load(environ=environ, folder=tmp_path).settings
    sent: list[str] = []
    execute = Conn.execute

    def note(conn: Conn, query: Any, params: Any = None, **how: Any) -> Any:
        sent.append(str(ClientCursor(conn).mogrify(query, params)))
        return execute(conn, query, params, **how)

    with connect(filled, name="test") as conn:
        monkeypatch.setattr(Conn, "execute", note)
        read(Deployment(settings, conn))
        monkeypatch.setattr(Conn, "execute", execute)
        reads = [text for text in sent if text.split()[0] in ("select", "with")]
        assert reads
        big = {name for (name,) in conn.execute(BIG)}
        assert {"run", "task_hot", "try_hot", "audit"} <= big
        for statement in reads:
            row = conn.execute(f"explain (format json) {statement}").fetchone()
            assert row is not None
            assert not big.intersection(whole_tables(row[0][0]["Plan"])), statement


def whole_tables(node: dict[str, Any]) -> Iterator[str]:
    """The tables that a plan reads from end to end, unless it stops after so many rows."""
    if node["Node Type"] == "Seq Scan":
        yield node["Relation Name"]
    for below in node.get("Plans", ()):
        if node["Node Type"] != "Limit" or below["Node Type"] != "Seq Scan" or "Filter" in below:
            yield from whole_tables(below)
