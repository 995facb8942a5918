"""A real PgBouncer in transaction mode before an embedded server, watched for session state.

With FLOW_TEST_PGBOUNCER=1 every `database` of a test is reached through one, and is examined when
the test has ended: a connection to the server must then be as a new one is, because the next
transaction on it may be anybody's.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from absent import absent
from flow.embedded import Server, account
from flow.embedded.account import Account
from waiting import wait_until

PORT = 6432
_SETTINGS = """\
[databases]
* = host={server} port=5432 user=flow

[pgbouncer]
pool_mode = transaction
server_round_robin = 1
unix_socket_dir = {folder}
unix_socket_mode = 0777
listen_port = {port}
auth_type = scram-sha-256
auth_file = {folder}/users
admin_users = flow
default_pool_size = 20
max_client_conn = 500
"""
_LEFT_BEHIND = """
select 'a setting: ' || name from pg_settings where source = 'session' and not name = any(%s)
union all select 'a channel: ' || channel from pg_listening_channels() channel
union all select 'a prepared statement: ' || statement from pg_prepared_statements
union all select 'a cursor: ' || statement from pg_cursors where is_holdable
union all select 'an advisory lock' from pg_locks
  where locktype = 'advisory' and pid = pg_backend_pid()
union all select 'a temporary table: ' || relname from pg_class
  where relnamespace = pg_my_temp_schema()
"""
_LEGAL_SETTINGS = [
    # PgBouncer itself carries them from one server connection to the next.
    *("application_name", "client_encoding", "DateStyle", "TimeZone"),
    "standard_conforming_strings",
    # Each transaction begins with its own, whatever the last one has left in this view.
    *("transaction_isolation", "transaction_read_only", "transaction_deferrable"),
]
_SERVERS = """
select count(*) from pg_stat_activity
where datname = %s and backend_type = 'client backend' and pid <> pg_backend_pid()
"""


@dataclass(frozen=True)
class PgBouncer:
    """A running PgBouncer; it lets everybody in who knows its password."""

    folder: Path
    password: str
    version: str

    @property
    def service(self) -> str:
        """What it is counted as (`services`)."""
        return f"PgBouncer {self.version}"

    def before(self, dsn: str) -> str:
        """The DSN by which the database of a direct `dsn` is reached through it."""
        return make_conninfo(dsn, host=str(self.folder), port=PORT, password=self.password)

    def url(self, dsn: str) -> str:
        """The same as a URL."""
        return url(self.before(dsn))

    def log(self) -> str:
        """What it has logged."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def left_behind(self, dsn: str) -> list[str]:
        """Session state that somebody has left in the server connections to a direct `dsn`."""
        name = conninfo_to_dict(dsn)["dbname"]
        with psycopg.connect(dsn) as direct:
            row = direct.execute(_SERVERS, (name,)).fetchone()
        found = []
        with ExitStack() as stack:
            for _ in range(row[0] if row else 0):
                # Each holds its transaction, so that the next one gets another server connection.
                conn = psycopg.connect(self.before(dsn), prepare_threshold=None)
                stack.enter_context(conn)
                found += [text for (text,) in conn.execute(_LEFT_BEHIND, (_LEGAL_SETTINGS,))]
        return found


def url(dsn: str) -> str:
    """A DSN with a database, a user and a folder for its host, as a URL."""
    parts = {name: quote(str(value), safe="") for name, value in conninfo_to_dict(dsn).items()}
    login = parts["user"] + (f":{parts['password']}" if "password" in parts else "")
    return f"postgresql://{login}@/{parts['dbname']}?host={parts['host']}&port={parts['port']}"


@contextmanager
def running_pgbouncer(server: Server) -> Iterator[PgBouncer]:
    """A PgBouncer before a server that runs, until the end of the block."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        absent("no pgbouncer on this machine")
    folder = Path(tempfile.mkdtemp(prefix="fp-", dir="/tmp"))
    owner = account.for_server(server.data)  # it refuses to run as root; peer admits this one
    made = PgBouncer(folder, secrets.token_hex(16), _version(program))
    _write(made, server, owner)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, str(folder / "settings")],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **({"user": owner.uid, "group": owner.gid, "extra_groups": []} if _is_root() else {}),
        )
    try:
        wait_until(lambda: _answers(made, server.dsn, process), "PgBouncer to answer")
        yield made
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def _write(pooler: PgBouncer, server: Server, owner: Account) -> None:
    folder = pooler.folder
    texts = {
        "settings": _SETTINGS.format(server=server.socket_directory, folder=folder, port=PORT),
        "users": f'"flow" "{pooler.password}"\n',
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o600)
    for path in (folder, *folder.iterdir()):
        os.chown(path, owner.uid, owner.gid)
    folder.chmod(0o755)


def _answers(pooler: PgBouncer, dsn: str, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, f"PgBouncer has ended:\n{pooler.log()}"
    try:
        psycopg.connect(pooler.before(dsn)).close()
    except psycopg.OperationalError:
        return False
    return True


def _version(program: str) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"PgBouncer (\d+\.\d+)", said)
    assert found, said
    return found[1]


def _is_root() -> bool:
    return os.geteuid() == 0


@pytest.fixture(scope="session")
def pooler(request: pytest.FixtureRequest) -> Iterator[PgBouncer | None]:
    """The PgBouncer before the server of this session, when FLOW_TEST_PGBOUNCER asks for it."""
    if not os.environ.get("FLOW_TEST_PGBOUNCER"):
        yield None
        return
    with running_pgbouncer(request.getfixturevalue("server").embedded) as made:
        yield made
