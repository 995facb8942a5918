"""What files define is stored once, in versions, and never lost by accident."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from flow.graph import DagSpec, TaskSpec, encode, spec_hash
from flow.graph.imported import ImportedDag, ImportFailure
from flow.store import dag_files, dags
from flow.store.connect import Conn, connect, transaction
from flow.store.dag_files import ParsedFile
from flow.store.dags import Stored
from flow.store.read import dags as read
from flow.timetables import parse
from waiting import wait_until


def definition(dag_id: str = "sales", schedule: Any = None, **fields: Any) -> ImportedDag:
    fields.setdefault("tasks", (TaskSpec(task_id="load", operator="BashOperator", owner="ann"),))
    spec = DagSpec(dag_id=dag_id, timetable=parse(schedule, timezone="UTC"), **fields)
    body = encode(spec)
    return ImportedDag(spec, body, spec_hash(body), 3, spec.timetable.words())


def store(
    conn: Conn,
    *definitions: ImportedDag,
    path: str = "/dags/one.py",
    code: str = "c1",
    paused: bool = True,
) -> Stored:
    with transaction(conn, "test"):
        return dags.store(conn, ParsedFile(path, code), definitions, paused=paused)


def one(conn: Conn, statement: str) -> Any:
    row = conn.execute(statement).fetchone()
    assert row is not None
    return row[0] if len(row) == 1 else row


def error_of(conn: Conn, path: str) -> str | None:
    rows = conn.execute("select error from dag_file where path = %s", (path,)).fetchall()
    return rows[0][0] if rows else None


def wait_until_blocked(conn: Conn) -> None:
    """Wait until a statement on this database waits for a lock."""
    blocked = (
        "select count(*) from pg_stat_activity"
        " where datname = current_database() and wait_event_type = 'Lock'"
    )
    wait_until(lambda: one(conn, blocked), "a statement that waits for a lock", pause=0.01)


def test_a_new_dag_gets_a_row_a_version_and_a_plan(connection: Conn) -> None:
    stored = store(
        connection, definition("sales", "@daily", tags=("x",), description="Sales", concurrency=3)
    )
    assert stored.versions == {"sales": 1}
    assert stored.wake
    row = one(
        connection,
        "select file, line, present, paused, version, schedule, timezone, catchup, owner, tags,"
        " description, max_active_runs, concurrency, cursor_at from dag",
    )
    assert row == (
        *("/dags/one.py", 3, True, True, 1, "every day at 00:00 UTC", "UTC", "false", "ann"),
        *(["x"], "Sales", 16, 3, None),
    )
    start, end, due, now = one(
        connection, "select next_start, next_end, next_run_at, clock_timestamp() from dag"
    )
    assert end - start == timedelta(days=1)
    assert due == end <= now < end + timedelta(days=1)
    assert (
        one(connection, "select body from spec")
        == encode(
            definition("sales", "@daily", tags=("x",), description="Sales", concurrency=3).spec
        ).decode()
    )


@pytest.mark.parametrize(
    ("setting", "said", "paused"),
    [(True, None, True), (False, None, False), (True, False, False), (False, True, True)],
)
def test_a_new_dag_is_paused_as_it_says_or_else_as_the_setting_says(
    connection: Conn, setting: bool, said: bool | None, paused: bool
) -> None:
    store(connection, definition(paused_at_creation=said), paused=setting)
    assert one(connection, "select paused from dag") is paused


def test_a_known_dag_keeps_being_paused_or_not(connection: Conn) -> None:
    store(connection, definition(), paused=True)
    connection.execute("update dag set paused = false")
    store(connection, definition(description="new", paused_at_creation=True), paused=True)
    assert one(connection, "select paused from dag") is False


def test_the_same_again_writes_nothing(connection: Conn) -> None:
    store(connection, definition("sales", "@daily"))
    before = one(connection, "select d.xmin::text, f.xmin::text from dag d, dag_file f")
    stored = store(connection, definition("sales", "@daily"))
    assert not stored.written
    assert not stored.wake
    assert one(connection, "select d.xmin::text, f.xmin::text from dag d, dag_file f") == before


def test_changed_graph_or_changed_code_is_a_new_version(connection: Conn) -> None:
    store(connection, definition())
    assert store(connection, definition(), code="c2").versions == {"sales": 2}
    assert store(connection, definition(description="x"), code="c2").versions == {"sales": 3}
    assert store(connection, definition(description="x"), code="c2").versions == {}
    rows = connection.execute(
        "select number, code_hash from dag_version order by number"
    ).fetchall()
    assert rows == [(1, "c1"), (2, "c2"), (3, "c2")]
    assert one(connection, "select version, description from dag") == (3, "x")
    assert one(connection, "select count(*) from spec") == 2


def test_a_changed_schedule_is_planned_anew_from_the_cursor(connection: Conn) -> None:
    cursor = datetime(2026, 3, 1, tzinfo=UTC)
    store(connection, definition("sales", "@daily", catchup=True))
    connection.execute("update dag set cursor_at = %s", (cursor,))
    assert store(connection, definition("sales", "@hourly", catchup=True)).wake
    assert one(connection, "select cursor_at, next_start, next_end, next_run_at from dag") == (
        *(cursor, cursor, cursor + timedelta(hours=1), cursor + timedelta(hours=1)),
    )


def test_a_change_that_is_not_of_the_schedule_leaves_the_plan(connection: Conn) -> None:
    store(connection, definition("sales", "@daily"))
    connection.execute("update dag set next_start = null, next_end = null, next_run_at = null")
    assert not store(connection, definition("sales", "@daily", description="x")).wake
    assert one(connection, "select next_run_at from dag") is None


def test_a_dag_that_waits_for_its_first_tick_remembers_which(connection: Conn) -> None:
    store(connection, definition("sales", "@daily", catchup="none"))
    cursor, start, due, now = one(
        connection, "select cursor_at, next_start, next_run_at, clock_timestamp() from dag"
    )
    assert cursor == start <= now < due


def test_a_moved_limit_wakes_the_dag(connection: Conn) -> None:
    store(connection, definition(max_active_runs=1))
    assert one(connection, "select count(*) from wakeup") == 0
    assert store(connection, definition(max_active_runs=2)).wake
    assert one(connection, "select kind, name from wakeup") == ("dag", "sales")


def test_a_dag_that_its_file_no_longer_defines_is_absent_and_comes_back(connection: Conn) -> None:
    store(connection, definition("a"), definition("b"))
    assert store(connection, definition("a")).vanished == ["b"]
    assert connection.execute("select dag_id, present from dag order by 1").fetchall() == [
        ("a", True),
        ("b", False),
    ]
    assert store(connection, definition("a")).vanished == []
    back = store(connection, definition("a"), definition("b"))
    assert back.returned == ["b"]
    assert back.versions == {}
    assert one(connection, "select bool_and(present) from dag") is True


def test_a_file_that_is_gone_hides_its_dags_and_keeps_their_history(connection: Conn) -> None:
    store(connection, definition("a"))
    store(connection, definition("b"), path="/dags/two.py")
    with transaction(connection, "test"):
        assert dags.hide(connection, ["/dags/one.py"]) == ["a"]
    assert set(dag_files.known(connection)) == {"/dags/two.py"}
    assert connection.execute("select dag_id from dag where present").fetchall() == [("b",)]
    assert one(connection, "select count(*) from dag_version where dag_id = 'a'") == 1


def test_the_first_owner_keeps_an_id_and_the_other_file_hears_both_paths(connection: Conn) -> None:
    store(connection, definition("a"))
    refused = store(
        connection, definition("a", description="other"), definition("b"), path="/dags/two.py"
    )
    assert refused.conflicts == {"a": "/dags/one.py"}
    assert refused.versions == {"b": 1}
    error = error_of(connection, "/dags/two.py")
    assert error is not None
    assert "/dags/one.py" in error
    assert "/dags/two.py" in error
    assert one(connection, "select file, version from dag where dag_id = 'a'") == (
        "/dags/one.py",
        1,
    )
    assert not dag_files.known(connection)["/dags/two.py"].freed
    assert dag_files.freed(connection) == []


def test_the_second_file_takes_over_when_the_first_is_gone(connection: Conn) -> None:
    store(connection, definition("a"))
    store(connection, definition("a", description="other"), path="/dags/two.py")
    with transaction(connection, "test"):
        dags.hide(connection, ["/dags/one.py"])
    assert dag_files.freed(connection) == ["/dags/two.py"]
    assert dag_files.known(connection)["/dags/two.py"].freed
    taken = store(connection, definition("a", description="other"), path="/dags/two.py")
    assert taken.returned == ["a"]
    assert taken.versions == {"a": 2}
    assert error_of(connection, "/dags/two.py") is None
    assert one(connection, "select file, present from dag") == ("/dags/two.py", True)


def test_a_failure_keeps_the_dags_and_the_time_since_when(connection: Conn) -> None:
    store(connection, definition("a", "@daily"))
    plan = one(connection, "select next_run_at, present, version from dag")
    file = ParsedFile("/dags/one.py", "c2", output="oh\0no \udcff")
    assert dag_files.put(connection, file, ImportFailure("SyntaxError: bad", 7, "Traceback …"))
    since = one(connection, "select error_since from dag_file")
    assert not dag_files.put(connection, file, ImportFailure("SyntaxError: bad", 7, "Traceback …"))
    assert dag_files.put(connection, file, ImportFailure("NameError: worse"))
    assert one(connection, "select error, error_line, error_since, output from dag_file") == (
        *("NameError: worse", None, since, r"oh\x00no \udcff"),
    )
    assert one(connection, "select next_run_at, present, version from dag") == plan
    store(connection, definition("a", "@daily"), code="c3")
    assert one(connection, "select error, error_since, traceback from dag_file") == (
        *(None, None, None),
    )


def test_known_files_come_with_their_modules(connection: Conn) -> None:
    file = ParsedFile("/dags/one.py", "c1", modules={"helpers": "/dags/helpers.py"})
    with transaction(connection, "test"):
        dags.store(connection, file, [definition()], paused=True)
    known = dag_files.some(connection, ["/dags/one.py"])["/dags/one.py"]
    assert known == dag_files.known(connection)["/dags/one.py"]
    assert known is not None
    assert (known.code_hash, known.modules, known.failed) == (
        *("c1", {"helpers": "/dags/helpers.py"}, False),
    )
    assert dag_files.some(connection, ["/dags/two.py"]) == {}


@pytest.mark.parametrize("path", ["/dags/one.py", "/dags/two.py"])
def test_two_parsers_that_store_the_same_new_id_at_once(
    connection: Conn, database: str, path: str
) -> None:
    with (
        ThreadPoolExecutor() as pool,
        connect(database, name="other") as other,
        connect(database, name="looks") as looks,
    ):
        with transaction(other, "test"):
            dags.store(other, ParsedFile("/dags/one.py", "c1"), [definition("a")], paused=True)
            second = pool.submit(store, connection, definition("a"), path=path)
            wait_until_blocked(looks)
        stored = second.result()
    assert stored.versions == {}
    assert stored.conflicts == ({} if path == "/dags/one.py" else {"a": "/dags/one.py"})
    assert one(connection, "select file, version from dag") == ("/dags/one.py", 1)


def test_who_waits_for_a_dag_finds_the_version_that_it_got_meanwhile(
    database: str, connection: Conn
) -> None:
    store(connection, definition())
    with connect(database, name="verb") as verb, ThreadPoolExecutor() as pool:
        with transaction(connection, "test"):
            stored = dags.store(
                connection, ParsedFile("/dags/one.py", "c2"), [definition(description="New")],
                paused=True,
            )  # fmt: skip
            found = pool.submit(read.stored, verb, ["sales"], lock=True)
            with connect(database, name="looks") as looks:
                wait_until_blocked(looks)
        assert stored.versions == {"sales": 2}
        assert [(dag.dag_id, dag.version) for dag in found.result()] == [("sales", 2)]
