"""Is the server there? What `postmaster.pid` says, and whether it is still true.

PostgreSQL itself writes there which process it is, where its socket is and whether it takes
connections. The file stays behind when the process is killed, and its number may by then belong
to another process, or to a dead one that its parent has not collected yet.
"""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path
from typing import Final, NamedTuple

from flow.embedded.address import socket_in
from flow.errors import DatabaseError

NAME: Final = "postmaster.pid"
_PROCESSES: Final = Path("/proc")
_ANSWER_LIMIT: Final = 2.0
"""Seconds; a server of this host answers at once unless it is stopped."""
_ENCRYPTION_REQUEST: Final = struct.pack("!ii", 8, 80877103)
"""The protocol's SSLRequest: its length and its code."""


class PidFile(NamedTuple):
    """What the server says of itself."""

    pid: int
    socket_directory: Path | None
    is_ready: bool
    is_stopping: bool


def read(data: Path) -> PidFile | None:
    """None when there is no file, or it is not complete yet.

    Raises `DatabaseError` when this user may not look into the data directory.
    """
    try:
        lines = (data / NAME).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return None
    except PermissionError:
        raise foreign(data) from None
    try:
        pid = abs(int(lines[0]))  # a server in single-user mode writes its number negative
    except (IndexError, ValueError):
        return None
    # Lines: process, data, start time, port, socket directory, address, memory, status.
    directory = Path(lines[4]) if len(lines) > 4 and lines[4].startswith("/") else None
    status = lines[7].strip() if len(lines) > 7 else ""
    return PidFile(pid, directory, status == "ready", status == "stopping")


def attachable(data: Path) -> Path | None:
    """The socket directory of the live server that takes connections over this data, if any."""
    said = read(data)
    if said is None or not said.is_ready or said.socket_directory is None:
        return None
    return said.socket_directory if _accepts(said.socket_directory) else None


def live_pid(data: Path) -> int | None:
    """The process of the server over this data, whether or not it takes connections."""
    said = read(data)
    return said.pid if said is not None and is_alive(said.pid, data) else None


def is_alive(pid: int, data: Path) -> bool:
    """Whether the process lives and is the server of this data.

    Its arguments name the data directory. A process that died and was not collected has none.
    """
    return os.fsencode(data) in _arguments(pid)


def is_coming(pid: int, data: Path) -> bool:
    """Whether a process just launched over this data is still there, even before it can be seen.

    While its program is being loaded (execve(2)) a process has no arguments yet.
    """
    arguments = _arguments(pid)
    return os.fsencode(data) in arguments if arguments else _is_running(pid)


def lost_its_socket(data: Path) -> bool:
    """Whether the server believes to be ready at a socket that somebody removed."""
    said = read(data)
    if said is None or not said.is_ready or said.socket_directory is None:
        return False
    return not socket_in(said.socket_directory).exists()


def is_stopping(data: Path) -> bool:
    """Whether the server says that it is on its way down."""
    said = read(data)
    return said is not None and said.is_stopping


def foreign(path: Path) -> DatabaseError:
    """The error for a database that this user may not touch."""
    return DatabaseError(
        f"The embedded database in {path} belongs to another user.",
        "Run Flow as that user or as root, or set FLOW_HOME to a folder of your own.",
    )


def _arguments(pid: int) -> list[bytes]:
    """The arguments of a process; none if it is dead, or in the middle of execve(2)."""
    try:
        text = (_PROCESSES / str(pid) / "cmdline").read_bytes()
    except OSError:
        return []
    return text.split(b"\0") if text else []


def _is_running(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        # proc_pid_stat(5): the state stands behind the name, which is in parentheses.
        fields = (_PROCESSES / str(pid) / "stat").read_bytes().rpartition(b") ")[2]
    except OSError:
        return False
    return fields[:1] not in (b"Z", b"X")


def _accepts(socket_directory: Path) -> bool:
    """Whether a server answers at the socket.

    A connection alone proves nothing: the kernel still accepts for a server that is being killed.
    So the server is asked for encryption, to which it says one byte, before any login.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_ANSWER_LIMIT)
        try:
            client.connect(str(socket_in(socket_directory)))
            client.sendall(_ENCRYPTION_REQUEST)
            return client.recv(1) != b""
        except (BlockingIOError, TimeoutError):
            return True  # there is a listener, but it is stopped or its queue is full
        except OSError:
            return False
