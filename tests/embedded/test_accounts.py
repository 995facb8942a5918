"""Which user of the operating system runs the server, and who else gets in."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path

import pytest

from absent import absent
from embedded.servers import DEBIAN_15, postmaster_of, query, run_as
from flow.embedded import Server, account
from flow.errors import DatabaseError

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as several users")

START = """
import sys
from pathlib import Path
from flow.embedded import Server
print(Server(Path(sys.argv[1])).start())
"""
CONNECT = """
import sys, psycopg
try:
    psycopg.connect(sys.argv[1], password=sys.argv[2]).close()
except psycopg.OperationalError as refusal:
    print(refusal)
else:
    print("connected")
"""


def owner_of_process(server: Server) -> int:
    return Path(f"/proc/{postmaster_of(server)}").stat().st_uid


@pytest.mark.skipif(os.geteuid() == 0, reason="root runs it as another user")
def test_an_ordinary_user_runs_the_server_itself(server: Server) -> None:
    dsn = server.start()
    assert owner_of_process(server) == os.geteuid()
    # logind removes shared memory of a person's account when its last login ends.
    shared_memory = "mmap" if os.geteuid() > 999 else "posix"
    assert query(dsn, "SHOW dynamic_shared_memory_type") == shared_memory


@needs_root
def test_for_root_the_server_runs_as_the_user_flow(server: Server) -> None:
    server.start()
    assert owner_of_process(server) == pwd.getpwnam(account.NAME).pw_uid
    assert server.data.stat().st_uid == pwd.getpwnam(account.NAME).pw_uid
    groups = Path(f"/proc/{postmaster_of(server)}/status").read_text()
    assert "Groups:\t\n" in groups.replace(" ", "")


@needs_root
def test_the_user_flow_attaches_to_what_root_started(server: Server) -> None:
    dsn = server.start()
    flow_user = pwd.getpwnam(account.NAME)
    assert run_as(flow_user, START, server.data.parents[1]) == dsn
    assert run_as(flow_user, CONNECT, dsn, "") == "connected"
    server.stop()
    assert run_as(flow_user, START, server.data.parents[1]) == dsn
    assert query(dsn, "SELECT 1") == 1


@needs_root
def test_a_home_that_the_server_cannot_enter_is_refused_and_left_alone(home: Path) -> None:
    home.mkdir(mode=0o700)
    with pytest.raises(DatabaseError, match="cannot enter") as raised:
        Server(home).start()
    assert f"chmod o+x {home}" in raised.value.hint
    assert home.stat().st_mode & 0o777 == 0o700
    assert not list(home.iterdir())


@needs_root
def test_programs_that_the_server_cannot_reach_are_copied(server: Server, home: Path) -> None:
    closed = home.parent / "closed"
    closed.mkdir(mode=0o700)
    tree = server.binaries.directory.parent
    if tree.parts[:2] == ("/", "usr"):
        pytest.skip("the system's PostgreSQL is found, which everybody can reach")
    below = closed / tree.parent.name / tree.name
    shutil.copytree(tree, below)
    libraries = tree.parent.with_name(f"{tree.parent.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, closed / libraries.name)
    copying = Server(home, binaries=below / "bin")
    assert query(copying.start(), "SELECT 1") == 1
    running = Path(f"/proc/{postmaster_of(copying)}/exe").resolve()
    assert home in running.parents
    assert closed.stat().st_mode & 0o777 == 0o700
    assert copying.psql == below / "bin" / "psql"


@needs_root
@pytest.mark.parametrize("configured", [None, DEBIAN_15])
def test_a_newly_made_user_has_a_server_of_its_own(
    ordinary_user: pwd.struct_passwd, home: Path, configured: Path | None
) -> None:
    if configured is not None and not configured.is_dir():
        absent(f"no PostgreSQL 15 in {configured}")
    home.mkdir()
    os.chown(home, ordinary_user.pw_uid, ordinary_user.pw_gid)
    code = START.replace("1]))", "1]), binaries=Path(sys.argv[2]) if sys.argv[2] else None)")
    dsn = run_as(ordinary_user, code, home, configured or "")
    server = Server(home)
    pid = postmaster_of(server)
    assert owner_of_process(server) == ordinary_user.pw_uid
    assert run_as(ordinary_user, CONNECT, dsn, "") == "connected"
    # Root may attach, and starts it again as the user to whom the data belongs.
    assert server.start() == dsn
    assert postmaster_of(server) == pid
    assert query(dsn, "SELECT current_user::text") == "flow"
    server.stop()
    server.start()
    assert owner_of_process(server) == ordinary_user.pw_uid


@needs_root
def test_other_users_cannot_use_flows_database(
    ordinary_user: pwd.struct_passwd, home: Path
) -> None:
    server = Server(home)
    dsn = server.start()
    warehouse = server.create_database("warehouse", "warehouse", "secret")
    assert "Permission denied" in run_as(ordinary_user, CONNECT, dsn, "")
    assert "Permission denied" in run_as(ordinary_user, CONNECT, warehouse, "secret")
    Server(home, shared_socket=True).start()
    assert "Peer authentication failed" in run_as(ordinary_user, CONNECT, dsn, "")
    assert "password authentication failed" in run_as(ordinary_user, CONNECT, warehouse, "no")
    assert run_as(ordinary_user, CONNECT, warehouse, "secret") == "connected"


@needs_root
def test_another_user_is_told_whose_database_it_is(
    ordinary_user: pwd.struct_passwd, home: Path
) -> None:
    Server(home).start()
    code = """
import sys
from pathlib import Path
from flow.embedded import Server
from flow.errors import DatabaseError
for act in (Server.start, Server.stop, Server.running):
    try:
        act(Server(Path(sys.argv[1])))
    except DatabaseError as error:
        print(error.message)
"""
    said = run_as(ordinary_user, code, home).splitlines()
    assert len(said) == 3
    assert all("belongs to another user" in line for line in said)
    assert Server(home).running()
