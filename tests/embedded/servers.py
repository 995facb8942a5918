"""What the tests do with real servers: other processes, other users, SQL, a hard kill."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psycopg

import flow
from absent import absent
from flow.embedded import Server, pidfile
from waiting import limit, wait_until

HANG = limit(60)
"""Seconds after which a test gives up; nothing waits for this in a good case."""
DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")
SYSTEM_PYTHON = Path("/usr/bin/python3")


def clean_up(home: Path) -> None:
    """End the server, and remove a socket directory that lies elsewhere."""
    server = Server(home)
    if server.data.exists():
        server.stop()
        assert pidfile.live_pid(server.data) is None
        elsewhere = server.socket_directory
        if home not in elsewhere.parents:
            shutil.rmtree(elsewhere, ignore_errors=True)


def python_path() -> str:
    """What a process of its own needs to import Flow and the driver."""
    places = [next(iter(flow.__path__)), psycopg.__path__[0]]
    return os.pathsep.join(str(Path(place).parent) for place in places)


def spawn(code: str, *arguments: object, **environment: str) -> subprocess.Popen[str]:
    """Another Flow process in a process group of its own that runs `code`, connected by pipes."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": python_path(), **environment},
        process_group=0,
    )


def run_as(user: pwd.struct_passwd, code: str, *arguments: object) -> str:
    """Run `code` as another user with the system's Python; its output, or the test fails."""
    if not SYSTEM_PYTHON.exists():
        absent(f"no {SYSTEM_PYTHON}; this interpreter may lie where other users cannot go")
    done = subprocess.run(
        [SYSTEM_PYTHON, "-B", "-c", code, *map(str, arguments)],
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[],
        cwd="/",
        env={"PATH": os.defpath, "PYTHONPATH": python_path()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def query(dsn: str, statement: str, **more: str) -> object:
    """The first column of the first row."""
    with psycopg.connect(dsn, autocommit=True, **more) as connection:
        row = connection.execute(statement).fetchone()
    return row[0] if row is not None else None


def execute(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement)


def postmaster_of(server: Server) -> int:
    pid = pidfile.live_pid(server.data)
    assert pid is not None
    return pid


def kill_hard(server: Server) -> int:
    """Kill the server's first process and wait until it is dead, collected or not."""
    pid = postmaster_of(server)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not pidfile.is_alive(pid, server.data), "the death of the server")
    return pid
