"""Several DAG processors share files: each is one's at a time, and a dead one's no more."""

from __future__ import annotations

import os

import pytest

from dag_folder import Folder
from flow.roles.parse import succession
from flow.store import parse_leases, processes
from flow.store.connect import Conn, connect
from waiting import wait_until


def register(conn: Conn, pid: int = 1) -> int:
    return processes.register(
        conn, role="parse", host=os.uname().nodename, pid=pid, version="test", lost_after=300.0
    )


def test_a_file_is_one_processors_at_a_time(folder: Folder) -> None:
    conn = folder.conn
    first, second = register(conn), register(conn)
    assert parse_leases.take(conn, first, ["/a", "/b"], 60.0) == {"/a", "/b"}
    assert parse_leases.take(conn, second, ["/b", "/c"], 60.0) == {"/c"}
    assert parse_leases.take(conn, first, ["/a"], 60.0) == {"/a"}, (
        "its own, after a lost connection"
    )
    assert parse_leases.give_back(conn, second, ["/a", "/c"]) == {"/c"}
    assert parse_leases.give_back(conn, first, ["/a"]) == {"/a"}
    assert parse_leases.take(conn, second, ["/a", "/b"], 60.0) == {"/a"}


def test_the_files_of_one_that_has_ended_or_is_late_are_free(folder: Folder) -> None:
    conn = folder.conn
    first, second, third = register(conn), register(conn), register(conn)
    parse_leases.take(conn, first, ["/a"], 60.0)
    parse_leases.take(conn, second, ["/b"], -1.0)
    processes.end(conn, first, "lost")
    assert parse_leases.take(conn, third, ["/a", "/b"], 60.0) == {"/a", "/b"}
    assert parse_leases.give_back(conn, first, ["/a"]) == set()
    assert parse_leases.give_back(conn, second, ["/b"]) == set()


def test_what_another_one_has_is_left_to_it(folder: Folder) -> None:
    path = folder.dag("one.py", "one")
    other = register(folder.conn)
    parse_leases.take(folder.conn, other, [path], 300.0)
    with folder.parser() as parser:
        parser.sweep()
        parser.turn()
        assert folder.dags() == {}
        processes.end(folder.conn, other, "lost")
        parser.run_once()
    assert folder.dags() == {"one": "one.py"}
    assert folder.value("select count(*) from parse_lease") == 0


def test_what_one_finds_after_its_file_was_taken_over_does_not_count(folder: Folder) -> None:
    go_on = folder.path.parent / "go_on"
    path = folder.dag(
        "one.py",
        "one",
        extra=f"import os, time\nwhile not os.path.exists({str(go_on)!r}): time.sleep(0.01)",
    )
    other = register(folder.conn)
    with folder.parser() as parser:
        parser.sweep()
        parser.turn()
        folder.conn.execute("update parse_lease set until = clock_timestamp() - interval '1 s'")
        assert parse_leases.take(folder.conn, other, [path], 300.0) == {path}
        go_on.touch()
        wait_until(lambda: parser.turn() or not parser._imports, "the end of the import")
        assert folder.dags() == {}
        assert folder.value("select count(*) from dag_file") == 0
        processes.end(folder.conn, other, "stopped")
        parser.run_once()
        assert folder.dags() == {"one": "one.py"}


def test_a_successor_frees_the_files_of_its_dead_predecessor(folder: Folder) -> None:
    pid = os.spawnlp(os.P_NOWAIT, "true", "true")
    os.waitpid(pid, 0)
    dead, alive = register(folder.conn, pid), register(folder.conn, os.getppid())
    parse_leases.take(folder.conn, dead, ["/a"], 300.0)
    parse_leases.take(folder.conn, alive, ["/b"], 300.0)
    succession.succeed(folder.conn)
    mine = register(folder.conn, os.getpid())
    assert parse_leases.take(folder.conn, mine, ["/a", "/b"], 60.0) == {"/a"}


@pytest.mark.parametrize("files", [30])
def test_two_side_by_side_parse_each_file_once(folder: Folder, files: int) -> None:
    counter = folder.path.parent / "imports"
    note = f"open({str(counter)!r}, 'a').write(__file__ + chr(10))"
    for number in range(files):
        folder.dag(f"f{number}.py", f"dag_{number}", extra=note)
    with (
        connect(folder.dsn, name="parse") as _,
        folder.parser() as first,
        folder.parser() as second,
    ):
        first.sweep()
        second.sweep()
        wait_until(
            lambda: (first.turn(), second.turn(), len(folder.dags()) == files)[-1],
            "every DAG",
            seconds=120,
        )
        first.run_once()
        second.run_once()
    assert sorted(counter.read_text().split()) == sorted(
        str(folder.path / f"f{number}.py") for number in range(files)
    )
