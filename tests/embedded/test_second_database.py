"""The further database with a password beside Flow's own."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from embedded.servers import execute, query
from flow.embedded import Server
from flow.errors import Conflict, UsageError


def test_its_role_logs_in_by_password_and_reaches_nothing_else(
    home: Path, programs: Path | None
) -> None:
    server = Server(home, binaries=programs)
    dsn = server.create_database("warehouse", "loader", "pass'word")
    assert "pass" not in dsn
    execute(f"{dsn} password='pass\\'word'", "CREATE SCHEMA facts")
    assert query(dsn, "SELECT current_user::text", password="pass'word") == "loader"
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(dsn, password="guess")
    for database in ("flow", "postgres", "template1"):
        with pytest.raises(psycopg.OperationalError, match="Peer authentication failed"):
            psycopg.connect(dsn, dbname=database, password="pass'word")
        allowed = f"SELECT has_database_privilege('loader', '{database}', 'CONNECT')"
        assert query(server.dsn, allowed) is False
    assert "SCRAM" not in server.log_path.read_text()


def test_a_second_call_only_sets_the_password(server: Server) -> None:
    dsn = server.create_database("warehouse", "warehouse", "first")
    execute(f"{dsn} password=first", "CREATE TABLE kept AS SELECT 7 AS number")
    assert server.create_database("warehouse", "warehouse", "second") == dsn
    assert query(dsn, "SELECT number FROM kept", password="second") == 7
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(dsn, password="first")
    lines = (server.data / "pg_hba.conf").read_text().splitlines()
    assert lines == [
        "local warehouse warehouse scram-sha-256",
        "local all all peer map=flow",
    ]


def test_a_name_that_is_taken_otherwise_is_a_conflict(server: Server) -> None:
    server.create_database("warehouse", "warehouse", "secret")
    with pytest.raises(Conflict, match="belongs to the role warehouse"):
        server.create_database("warehouse", "other", "secret")
    execute(server.dsn, "CREATE ROLE chief SUPERUSER")
    with pytest.raises(Conflict, match="superuser"):
        server.create_database("more", "chief", "secret")


@pytest.mark.parametrize(
    "name", ["", "flow", "postgres", "all", "replication", "pg_x", "Upper", "a b", 'a"b', "a\nb"]
)
def test_an_illegal_name_is_refused_before_anything_starts(server: Server, name: str) -> None:
    with pytest.raises(UsageError):
        server.create_database(name, "warehouse", "secret")
    with pytest.raises(UsageError):
        server.create_database("warehouse", name, "secret")
    assert not server.running()
