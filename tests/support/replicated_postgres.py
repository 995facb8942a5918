"""A PostgreSQL with a synchronous streaming replica, which can take its place."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from absent import absent
from flow.embedded import account, binaries
from flow.embedded.account import Account
from services import postgres_of
from waiting import limit, wait_until

ROLE = "flow"
_SYSTEM = Path("/usr/lib/postgresql")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Node:
    """One of the two servers, on the loopback interface."""

    owner: Account
    programs: Path
    data: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    def dsn(self, database: str) -> str:
        return f"postgresql://{ROLE}@127.0.0.1:{self.port}/{database}"

    def program(self, name: str, *arguments: str | Path) -> None:
        """Run one of PostgreSQL's programs to its end."""
        code, _, complaint = account.run(self.owner, [self.programs / name, *arguments])
        assert code == 0, complaint

    def start(self, **settings: str) -> None:
        """Start it, and wait until it answers. Its data need not survive a power cut."""
        given = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            **settings,
        }
        options = [word for name, value in given.items() for word in ("-c", f"{name}={value}")]
        is_root = os.geteuid() == 0
        with (self.data.parent / f"{self.data.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.data, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                user=self.owner.uid if is_root else None,
                group=self.owner.gid if is_root else None,
                extra_groups=[] if is_root else None,
            )
        wait_until(self._answers, "a server", seconds=20, pause=0.1)

    def kill(self) -> None:
        """SIGKILL it and every process of it. May be called twice."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(limit(10))
            self.process = None

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.dsn("postgres"), connect_timeout=10).close()
        except psycopg.OperationalError:
            return False
        return True


@dataclass
class Pair:
    """A primary whose commits wait for the replica."""

    primary: Node
    replica: Node

    @property
    def service(self) -> str:
        """What it is counted as (`services`)."""
        return f"{postgres_of(self.primary.data)} with a replica"

    @property
    def url(self) -> str:
        """The URL of the database `flow`, wherever it can be written."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in (self.primary, self.replica))
        return f"postgresql://{ROLE}@{hosts}/flow?target_session_attrs=read-write"

    def fail_over(self) -> None:
        """Kill the primary, and promote the replica."""
        self.primary.kill()
        with psycopg.connect(self.replica.dsn("postgres"), autocommit=True) as conn:
            assert conn.execute("select pg_promote()").fetchone() == (True,)


@contextmanager
def replicated() -> Iterator[Pair]:
    """Two servers with an empty database `flow`; ends them, whatever happened."""
    with tempfile.TemporaryDirectory(prefix="fr-", dir="/tmp") as name:
        folder = Path(name)
        owner = account.for_server(folder / "data")
        if os.geteuid() == 0:
            os.chown(folder, owner.uid, owner.gid)
        programs = _programs(owner)
        primary = Node(owner, programs, folder / "one")
        replica = Node(owner, programs, folder / "two")
        try:
            _begin(primary, replica)
            yield Pair(primary, replica)
        finally:
            primary.kill()
            replica.kill()


def _begin(primary: Node, replica: Node) -> None:
    kind = ("--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
    primary.program("initdb", "-U", ROLE, *kind, "-D", primary.data)
    primary.start(synchronous_standby_names="*")
    source = ("-h", "127.0.0.1", "-p", str(primary.port), "-U", ROLE)
    copy = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync")
    replica.program("pg_basebackup", *source, *copy, "-D", replica.data)
    replica.start()
    with psycopg.connect(primary.dsn("postgres"), autocommit=True) as conn:
        conn.execute("create database flow")


def _programs(owner: Account) -> Path:
    """A folder with all that is needed, which the servers' account can run."""
    found = [*sorted(_SYSTEM.glob("*/bin"), reverse=True), binaries.find().directory]
    usable = [folder for folder in found if _has_all(folder, owner)]
    if not usable:
        absent(f"no PostgreSQL with pg_basebackup that {owner.name} can run")
    return usable[0]


def _has_all(folder: Path, owner: Account) -> bool:
    needed = [folder / name for name in ("initdb", "postgres", "pg_basebackup")]
    return all(one.exists() and account.can_enter(owner, one) for one in needed)
