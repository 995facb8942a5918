"""Starting, attaching, stopping; and whom the server belongs to."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from embedded.servers import execute, postmaster_of, query, spawn
from flow.embedded import Server
from flow.errors import DatabaseError

START_WHEN_TOLD = """
import sys
from pathlib import Path
from flow.embedded import Server
server = Server(Path(sys.argv[1]))
print("here", flush=True)
sys.stdin.readline()
print(server.start(), flush=True)
sys.stdin.readline()
"""


def test_first_start_makes_the_database(home: Path, programs: Path | None) -> None:
    server = Server(home, binaries=programs)
    assert not server.running()
    dsn = server.start()
    assert server.running()
    assert dsn == server.dsn == f"host={home}/postgres/run port=5432 user=flow dbname=flow"
    assert query(dsn, "SELECT current_user || '@' || current_database()") == "flow@flow"
    assert query(dsn, "SELECT upper('ä')") == "Ä"
    assert query(dsn, "SHOW server_version_num") >= "150000"
    assert server.psql.is_file()


SETTINGS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "autovacuum": "on",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "listen_addresses": "",
    "data_checksums": "on",
    "server_encoding": "UTF8",
    "TimeZone": "UTC",
}


def test_settings_are_those_of_production(home: Path, programs: Path | None) -> None:
    dsn = Server(home, binaries=programs).start()
    assert {name: query(dsn, f"SHOW {name}") for name in SETTINGS} == SETTINGS


def test_only_its_owner_can_enter_data_and_socket_directory(server: Server) -> None:
    server.start()
    for directory in (server.data, server.socket_directory):
        assert directory.stat().st_mode & 0o777 == 0o700
    assert server.log_path.stat().st_mode & 0o777 == 0o600


def test_second_start_attaches(server: Server) -> None:
    told: list[str] = []
    dsn = server.start(lambda: told.append("first"))
    pid = postmaster_of(server)
    assert Server(server.data.parents[1]).start(lambda: told.append("second")) == dsn
    assert postmaster_of(server) == pid
    assert told == ["first"]


def test_stop_is_idempotent_and_data_outlives_it(home: Path, programs: Path | None) -> None:
    server = Server(home, binaries=programs)
    server.stop()
    assert not home.exists()
    execute(server.start(), "CREATE TABLE kept AS SELECT 7 AS number")
    server.stop()
    server.stop()
    assert not server.running()
    assert query(server.start(), "SELECT number FROM kept") == 7


def test_four_first_starts_at_once_make_one_cluster(server: Server) -> None:
    home = server.data.parents[1]
    processes = [spawn(START_WHEN_TOLD, home) for _ in range(4)]
    for process in processes:
        assert process.stdout.readline() == "here\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = {process.stdout.readline() for process in processes}
    for process in processes:
        process.communicate("end\n")
    assert answers == {server.dsn + "\n"}
    assert [process.returncode for process in processes] == [0, 0, 0, 0]
    log = server.log_path.read_text()
    assert log.count("ready to accept connections") == 1
    assert not list(server.data.parent.glob("*partial*"))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_death_of_the_starting_process_group_leaves_the_server(
    server: Server, how: signal.Signals
) -> None:
    process = spawn(START_WHEN_TOLD, server.data.parents[1])
    process.stdin.write("go\n")
    process.stdin.flush()
    assert process.stdout.readline() == "here\n"
    dsn = process.stdout.readline().strip()
    pid = postmaster_of(server)
    os.killpg(process.pid, how)
    # The end of the pipe shows as well that the server did not inherit it.
    process.communicate()
    assert process.returncode != 0
    assert postmaster_of(server) == pid
    assert os.getsid(pid) != os.getsid(0)
    assert query(dsn, "SELECT 1") == 1


def test_the_server_inherits_no_file_and_no_environment(server: Server) -> None:
    code = """
import os, sys
from pathlib import Path
from flow.embedded import Server
reading, writing = os.pipe()
os.set_inheritable(writing, True)
Server(Path(sys.argv[1])).start()
os.close(writing)
print("end of file" if os.read(reading, 1) == b"" else "held")
"""
    process = spawn(
        code, server.data.parents[1], FLOW_DATABASE_URL="s3cret", PGPORT="1", PGDATA="/"
    )
    said, _ = process.communicate()
    assert said == "end of file\n"
    environment = Path(f"/proc/{postmaster_of(server)}/environ").read_bytes()
    assert b"s3cret" not in environment
    assert b"PGPORT" not in environment


def test_attaching_loads_no_driver_and_starts_no_process(server: Server) -> None:
    server.start()
    code = """
import sys, json
from pathlib import Path
from flow.embedded import Server
server = Server(Path(sys.argv[1]))
server.start()
assert server.running()
print(json.dumps(sorted(sys.modules)))
"""
    said, _ = spawn(code, server.data.parents[1]).communicate()
    loaded = set(json.loads(said))
    assert "flow.embedded.pidfile" in loaded
    assert not loaded & {"psycopg", "sqlalchemy", "subprocess", "flow.embedded.starter"}


def test_a_setting_that_cannot_be_is_reported_from_the_log(server: Server) -> None:
    server.start()
    server.stop()
    with (server.data / "postgresql.conf").open("a") as settings:
        settings.write("max_connections = 'plenty'\n")
    with pytest.raises(DatabaseError, match="max_connections") as raised:
        server.start()
    assert str(server.log_path) in raised.value.hint


def test_settings_by_alter_system_win_over_flows_own(server: Server) -> None:
    execute(server.start(), "ALTER SYSTEM SET max_connections = 50")
    server.stop()
    assert query(server.start(), "SHOW max_connections") == "50"


def test_a_long_log_begins_anew_at_a_start(server: Server) -> None:
    server.start()
    server.stop()
    with server.log_path.open("a") as log:
        log.truncate(10_000_001)
    server.start()
    assert server.log_path.stat().st_size < 10_000
    assert server.log_path.with_name("postgres.log.1").stat().st_size == 10_000_001
