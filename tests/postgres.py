"""A real PostgreSQL for tests: one server a session, one fresh database a test.

The server is the embedded one. FLOW_TEST_POSTGRES_BIN names the folder of another version's
programs; FLOW_TEST_PGBOUNCER=1 puts a PgBouncer before it. Workers of pytest-xdist share the
server; the last one to finish stops it. Where there is no PostgreSQL at all, tests are skipped, and
fail under CI=true.

Its hooks and fixtures are taken into `tests/conftest.py`.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from absent import absent
from flow.embedded import Server
from flow.errors import NoPostgres
from flow.store.connect import Conn, connect
from flow.store.migrate import migrate
from pgbouncer import PgBouncer

_TEMPLATE = "flow_template"


@dataclass(frozen=True)
class PostgresServer:
    """A running server, with a migrated database to copy from."""

    embedded: Server
    dsn: str

    def of(self, database: str) -> str:
        """The DSN of a database."""
        return make_conninfo(self.dsn, dbname=database)

    def create(self, template: str = _TEMPLATE) -> str:
        """A new database, a copy of the migrated one; its name."""
        name = f"test_{secrets.token_hex(6)}"
        self._execute("create database {} template {}", name, template)
        return name

    def drop(self, database: str) -> None:
        """Drop a database and end the connections to it."""
        self._execute("drop database {} with (force)", database)

    def prepare(self) -> None:
        """Make the template, once for all workers."""
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            found = conn.execute("select 1 from pg_database where datname = %s", (_TEMPLATE,))
            if found.fetchone():
                return
            # The data of tests need not survive a power cut.
            conn.execute("alter system set fsync = off")
            conn.execute("select pg_reload_conf()")
        half_made = self.create("template1")
        migrate(self.of(half_made))
        self._execute("alter database {} rename to {}", half_made, _TEMPLATE)

    def _execute(self, statement: str, *names: str) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            conn.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def url_of(dsn: str) -> str:
    """The URL of a database on a socket, as settings take it."""
    fields = conninfo_to_dict(dsn)
    host = quote(str(fields["host"]), safe="")
    return f"postgresql://{fields['user']}@/{fields['dbname']}?host={host}&port={fields['port']}"


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """The server of this test session."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or secrets.token_hex(16)
    folder = Path(f"/tmp/ft-{run[:10]}")  # short, for the name of the socket
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)  # the server's account goes through it
    programs = os.environ.get("FLOW_TEST_POSTGRES_BIN")
    embedded = Server(folder / "h", binaries=Path(programs) if programs else None)
    with (folder / "users").open("w") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        try:
            with (folder / "first").open("w") as first:
                fcntl.flock(first, fcntl.LOCK_EX)
                server = PostgresServer(embedded, embedded.start())
                server.prepare()
            yield server
        finally:
            _leave(folder, users.fileno(), embedded)


def _leave(folder: Path, users: int, embedded: Server) -> None:
    """Stop the server, unless another worker uses it."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    elsewhere = embedded.socket_directory
    embedded.stop()
    shutil.rmtree(folder)
    if folder not in elsewhere.parents:
        shutil.rmtree(elsewhere, ignore_errors=True)


_SERVER = pytest.StashKey[PostgresServer | NoPostgres]()
_OPEN = pytest.StashKey[ExitStack]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the server before any test runs, if one will ask for it.

    Some tests make their process a subreaper, to which orphans move up, and end what moved up. The
    server is an orphan by intention: it must have found its place before.
    """
    config = session.config
    wanted = any("server" in getattr(item, "fixturenames", ()) for item in session.items)
    if config.option.collectonly or not wanted:
        return
    stack = config.stash[_OPEN] = ExitStack()
    try:
        config.stash[_SERVER] = stack.enter_context(running_server())
    except NoPostgres as error:
        config.stash[_SERVER] = error


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the server, unless another worker uses it."""
    stack = session.config.stash.get(_OPEN, None)
    if stack is not None:
        stack.close()


@pytest.fixture(scope="session")
def server(pytestconfig: pytest.Config) -> PostgresServer:
    """The server of this test session; skips where there is no PostgreSQL, fails there in CI."""
    found = pytestconfig.stash[_SERVER]
    if isinstance(found, NoPostgres):
        absent(f"{found.message} {found.hint}")
    return found


@pytest.fixture
def direct(server: PostgresServer) -> Iterator[str]:
    """The DSN of a fresh, migrated database, past any pooler."""
    name = server.create()
    yield server.of(name)
    server.drop(name)


@pytest.fixture
def database(direct: str, pooler: PgBouncer | None) -> Iterator[str]:
    """The DSN of the fresh database, through the pooler where there is one."""
    yield direct if pooler is None else pooler.before(direct)
    left = [] if pooler is None else pooler.left_behind(direct)
    assert left == [], "session state, which does not last behind a pooler"


@pytest.fixture
def connection(database: str) -> Iterator[Conn]:
    """A connection to the fresh database, in autocommit mode."""
    with connect(database, name="test") as conn:
        yield conn
