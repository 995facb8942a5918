"""What people look at reads no big table from end to end: every statement that a verb sends for a
page, for one thing or for an explanation has its plan looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import pytest
from psycopg import ClientCursor
from psycopg.conninfo import conninfo_to_dict

from bench import past_runs
from bench.stored import rooted_spec, store_dags, store_specs
from cases.every_verb import leaves
from flow.store.connect import Conn, connect
from flow_cli.application import main, root
from postgres import PostgresServer, server  # noqa: F401

DAGS: Final = 3_000
RUNNING: Final = 300
DAG: Final = "team0.dag_0"
NOW: Final = (DAG, "now_0")
PAST: Final = (DAG, "past_0")
GONE: Final = f"team{(DAGS - 1) % 40}.dag_{DAGS - 1}"
"""One without a run of today."""
VERBS: Final = (
    ("dags", "list"),
    ("dags", "show", DAG),
    ("dags", "next", DAG),
    ("dags", "versions", DAG),
    ("dags", "diff", DAG, "1", "1"),
    ("dags", "errors"),
    ("runs", "list"),
    ("runs", "list", DAG),
    ("runs", "list", DAG, "--state", "failed"),
    ("runs", "list", "--state", "failed"),
    ("runs", "list", "--state", "running"),
    ("runs", "list", "--type", "manual"),
    ("runs", "list", "--from", "-2h"),
    ("runs", "list", "--where", "state=failed and dag~team1.*"),
    ("runs", "list", DAG, "--where", "type=manual"),
    ("runs", "show", *PAST),
    ("runs", "show", DAG, "latest"),
    ("tasks", "list", *NOW),
    ("tasks", "list", *PAST),
    ("tasks", "tries", *PAST, "root_0"),
    ("tasks", "render", DAG, "root_0", "past_0"),
    ("logs", *PAST, "root_0"),
    ("logs", *PAST),
    ("xcom", "list", *PAST),
    ("xcom", "get", *PAST, "root_0"),
    ("grid", DAG),
    ("graph", DAG),
    ("graph", *PAST),
    ("compare", *PAST, "now_0"),
    ("pools", "list"),
    ("pools", "show", "default_pool"),
    ("vars", "list"),
    ("conns", "list"),
    ("backfills", "list"),
    ("backfills", "list", DAG),
    ("backfills", "show", "1"),
    ("status",),
    ("events", *PAST),
    ("events",),
    ("audit",),
    ("audit", "--dag", DAG),
    ("plan",),
    ("why", DAG),
    ("why", *NOW),
    ("why", *NOW, "root_0"),
    ("why", *NOW, "task_12"),
    ("why", *PAST),
    ("why", *PAST, "root_0"),
)
CODES: Final = {("status",): 1, ("logs", DAG): 3, ("tasks", "render"): 1}
"""No role is alive; there is neither a log nor a DAG file."""
PAGED: Final = ("dag", "dag_version")
"""A row for each DAG, which a page must not read all of; what counts DAGs does."""
PARTIAL: Final = (
    "run_unfinished",
    "run_failed",
    "run_by_type",
    "task_pool",
    "task_queue",
    "task_keeping",
)
"""Indexes of what is unfinished, or rare."""

_MORE_DAGS: Final = """
insert into dag (dag_id, file, paused, version, schedule, timezone, catchup, owner, max_active_runs,
  cursor_at, next_start, next_end, next_run_at)
select 'team' || number %% 40 || '.dag_' || number, '/dags/file_' || number || '.py', false, 1,
  schedule, timezone, catchup, owner, max_active_runs, cursor_at, next_start, next_end, next_run_at
from dag cross join generate_series(1, %(dags)s::int - 1) number
"""
_MORE_VERSIONS: Final = """
insert into dag_version (dag_id, number, spec_hash, code_hash, bundle, pools)
select d.dag_id, 1, v.spec_hash, v.code_hash, v.bundle, v.pools
from dag d, dag_version v where d.dag_id <> v.dag_id
"""
_BIG: Final = "select relname from pg_class where relkind = 'r' and reltuples > 1000"
_ENTRIES: Final = """
insert into audit (at, os_user, host, verb, target)
select now() - number * interval '1 minute', 'flow', 'host', 'dags.pause', 'dag_' || number
from generate_series(1, 20000) number
"""


class Scan(NamedTuple):
    """A table that a statement reads from end to end, or an index of it."""

    table: str
    by: str
    statement: str


@pytest.fixture(scope="module")
def filled(server: PostgresServer) -> Iterator[str]:  # noqa: F811
    """The DSN of a database with some of everything that grows."""
    database = server.create()
    dsn = server.of(database)
    with connect(dsn, name="test") as conn:
        spec, never = rooted_spec(0), datetime(2100, 1, 1, tzinfo=UTC)
        start = datetime(2026, 7, 9, tzinfo=UTC)
        hashes = store_specs(conn, [spec])
        store_dags(conn, [spec], hashes, cursor=start, due=lambda number: never)
        conn.execute(_MORE_DAGS, {"dags": DAGS})
        conn.execute(_MORE_VERSIONS)
        conn.execute(_ENTRIES)
        past_runs.write_ended(conn, dags=DAGS, runs=DAGS)
        past_runs.write_running(conn, RUNNING)
        past_runs.write_backfill(conn, DAG)
        conn.execute("vacuum analyze")
    yield dsn
    server.drop(database)


@pytest.fixture
def sent(filled: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """The statements that are sent from now on, with their values."""
    found: list[str] = []
    execute = Conn.execute

    def note(conn: Conn, query: Any, params: Any = None, **how: Any) -> Any:
        found.append(str(ClientCursor(conn).mogrify(query, params)))
        return execute(conn, query, params, **how)

    monkeypatch.setattr(Conn, "execute", note)
    url = f"postgresql:///?{urlencode(conninfo_to_dict(filled))}"
    monkeypatch.setenv("FLOW_DATABASE_URL", url)
    monkeypatch.setenv("FLOW_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield found


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_no_big_table_is_read_from_end_to_end(
    filled: str, sent: list[str], verb: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    code = main([*verb, "-o", "json"])
    assert code == CODES.get(verb[:2], 0), capfd.readouterr().err
    reads = [text for text in sent if text.split()[0] in ("select", "with")]
    assert reads
    with connect(filled, name="test") as conn:
        assert [scan for text in reads for scan in scans(conn, text)] == []


def test_a_dag_is_deleted_without_reading_what_others_have(
    filled: str, sent: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    with connect(filled, name="test") as conn:
        conn.execute("update dag set present = false where dag_id = %s", [GONE])
    assert main(["dags", "delete", GONE, "--yes"]) == 0, capfd.readouterr().err
    assert capfd.readouterr().out.startswith(f"{GONE}: 1 run (1 success), 1 version, 0 backfills")
    deletes = [text for text in sent if text.split()[0] in ("select", "with", "delete")]
    assert len([text for text in deletes if text.startswith("delete")]) > 8
    with connect(filled, name="test") as conn:
        assert [scan for text in deletes for scan in scans(conn, text)] == []


def test_every_list_and_page_is_looked_at() -> None:
    there = {verb for verb, _ in leaves(root()) if verb.split()[-1] in ("list", "show", "why")}
    assert there - {"config show"} <= {
        " ".join(verb[:length]) for verb in VERBS for length in (1, 2)
    }


def scans(conn: Conn, statement: str) -> Iterator[Scan]:
    """What the plan of a statement reads from end to end."""
    row = conn.execute(f"explain (format json) {statement}").fetchone()
    assert row is not None
    big = {name for (name,) in conn.execute(_BIG)}
    page = re.search(r"limit \d+\s*$", statement)
    for node in _whole(row[0][0]["Plan"], cut=False):
        table = node["Relation Name"]
        if table in big and (page or table not in PAGED):
            yield Scan(table, node.get("Index Name", ""), statement)


def _whole(node: dict[str, Any], *, cut: bool) -> Iterator[dict[str, Any]]:
    """The scans below a node that nothing confines: no condition on an index, and no limit above.

    A partial index is a condition by itself. What sorts, hashes or counts reads all that is below
    it, and what filters a table may have to.
    """
    kind = node["Node Type"]
    cut = (cut or kind == "Limit") and kind not in ("Sort", "Aggregate", "Hash")
    if kind == "Seq Scan":
        confined = cut and "Filter" not in node
    elif kind.startswith("Index"):
        confined = cut or "Index Cond" in node or node["Index Name"] in PARTIAL
    else:
        confined = True
    if not confined:
        yield node
    for below in node.get("Plans", ()):
        yield from _whole(below, cut=cut)
