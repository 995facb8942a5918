"""What a hard kill leaves behind, at any moment, is dealt with by the next start."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

import prepared_home
from embedded.servers import execute, kill_hard, postmaster_of, query
from flow.embedded import Server, pidfile, postmaster
from waiting import wait_until


@pytest.fixture
def server(home: Path) -> Server:
    """A server whose data have been made before: here is only what comes after that."""
    prepared_home.copy_to(home)
    return Server(home)


def test_committed_rows_outlive_a_killed_server(home: Path, programs: Path | None) -> None:
    server = Server(home, binaries=programs)
    dsn = server.start()
    execute(dsn, "CREATE TABLE kept (number int)")
    with psycopg.connect(dsn) as connection:
        connection.execute("INSERT INTO kept SELECT generate_series(1, 1000)")
        connection.commit()
        connection.execute("INSERT INTO kept VALUES (1001)")
        dead = kill_hard(server)
        connection.close()
    assert not server.running()
    assert server.start() == dsn
    assert postmaster_of(server) != dead
    assert query(dsn, "SELECT count(*) FROM kept") == 1000


def test_a_start_right_after_a_kill_never_attaches_to_the_dying_server(server: Server) -> None:
    """The kernel accepts connections for a dying process a little longer than it lives."""
    server.start()
    for _ in range(10):
        kill_hard(server)
        assert query(server.start(), "SELECT 1") == 1


def test_a_start_waits_for_the_killed_servers_last_processes(server: Server) -> None:
    """One of them lives on for a while; a second server beside it would ruin the data."""
    dsn = server.start()
    session = psycopg.connect(dsn, autocommit=True)
    backend = session.info.backend_pid
    os.kill(backend, signal.SIGSTOP)
    kill_hard(server)
    with ThreadPoolExecutor(1) as threads:
        starting = threads.submit(server.start)
        try:
            wait_until(
                lambda: "is still in use" in server.log_path.read_text(), "the word of the server"
            )
            assert not starting.done()
        finally:
            os.kill(backend, signal.SIGCONT)
        assert starting.result() == dsn
    assert not _lives(backend)
    assert query(dsn, "SELECT 1") == 1
    session.close()


def test_a_start_ends_a_server_that_does_not_get_down(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its checkpointer stands still, so its last checkpoint is never done."""
    dsn = server.start()
    writer = query(dsn, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
    assert isinstance(writer, int)
    hanging = postmaster_of(server)
    os.kill(writer, signal.SIGSTOP)
    os.kill(hanging, signal.SIGINT)
    wait_until(lambda: pidfile.is_stopping(server.data), "the beginning of the stop")
    monkeypatch.setattr(postmaster, "FAST_LIMIT", 0.5)
    assert server.start() == dsn
    assert postmaster_of(server) != hanging
    assert query(dsn, "SELECT 1") == 1


def test_the_number_of_a_killed_server_may_belong_to_another_process(server: Server) -> None:
    server.start()
    kill_hard(server)
    pid_file = server.data / pidfile.NAME
    first, rest = pid_file.read_text().split("\n", 1)
    assert int(first) != os.getpid()
    pid_file.write_text(f"{os.getpid()}\n{rest}")
    lock = server.socket_directory / ".s.PGSQL.5432.lock"
    lock.write_text(f"{os.getpid()}\n{rest}")
    assert query(server.start(), "SELECT 1") == 1


def test_a_dead_server_that_nobody_collected_counts_as_dead(server: Server) -> None:
    server.start()
    server.stop()
    child = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert Path(f"/proc/{child.pid}").exists()
    (server.data / pidfile.NAME).write_text(
        f"{child.pid}\n{server.data}\n1\n5432\n{server.socket_directory}\n\n1 1\nready   \n"
    )
    assert not server.running()
    assert query(server.start(), "SELECT 1") == 1
    child.wait()


def test_a_server_that_lost_its_socket_is_replaced(server: Server) -> None:
    dsn = server.start()
    execute(dsn, "CREATE TABLE kept AS SELECT 7 AS number")
    pid = postmaster_of(server)
    shutil.rmtree(server.socket_directory)
    assert not server.running()
    assert query(server.start(), "SELECT number FROM kept") == 7
    assert not pidfile.is_alive(pid, server.data)


def test_an_unfinished_cluster_of_a_killed_process_is_replaced(server: Server) -> None:
    server.start()
    server.stop()
    server.data.rename(server.data.with_name("data.partial"))
    (server.data.with_name("data.partial") / "PG_VERSION").unlink()
    assert query(server.start(), "SELECT current_database()") == "flow"
    assert not server.data.with_name("data.partial").exists()


def test_a_vanished_socket_directory_is_made_again(server: Server) -> None:
    dsn = server.start()
    server.stop()
    server.socket_directory.rmdir()
    assert server.start() == dsn


@pytest.mark.parametrize("content", ["", "\n", "12", "no number\nat all\n"])
def test_a_damaged_pid_file_is_no_server(server: Server, content: str) -> None:
    server.start()
    server.stop()
    (server.data / pidfile.NAME).write_text(content)
    assert not server.running()
    server.start()
    assert server.running()


def _lives(pid: int) -> bool:
    """Dead ones that nobody collected yet have no arguments."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False
