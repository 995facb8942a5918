"""The PostgreSQL that Flow brings along: one real server per state folder, started on demand.

    server      the public face: start, attach, stop
    address     the socket's name, and the keywords for a database
    layout      what lies where under FLOW_HOME
    pidfile     is the server there, and does it take connections
    starter     starting it when it is not there, and stopping it
    lock        one process at a time does that
    binaries    where a PostgreSQL's programs are found
    account     the operating system's user that the server runs as
    files       directories and files that belong to that user
    sockets     the directory of the server's socket, kept short
    cluster     making the data directory, its settings and its authentication
    postmaster  the server's process: launch it, end it
    database    one more database with a password, beside Flow's own

Importing this package loads no database driver: attaching to a live server must cost next to
nothing, and every command does it.
"""

from __future__ import annotations

from flow.embedded.server import Server

__all__ = ["Server"]
