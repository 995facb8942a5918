"""The embedded server's public face: start, attach, stop.

All roles of a deployment share one server. Whoever needs it first starts it; it belongs to none
of them and outlives them all, until `stop`. What starting takes is loaded only by who starts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from flow.embedded import address, pidfile
from flow.embedded.layout import Layout

if TYPE_CHECKING:
    from flow.embedded.binaries import Binaries
    from flow.embedded.starter import Starter


class Server:
    """The PostgreSQL server of one FLOW_HOME.

    `binaries` is the configured directory of PostgreSQL's programs; without it they are searched.
    `shared_socket` lets other users of the host reach the socket, where `peer` authentication
    admits only Flow's own users, and a password those of `create_database`.
    """

    def __init__(
        self, home: Path, *, binaries: Path | None = None, shared_socket: bool = False
    ) -> None:
        self._layout = Layout(home.resolve())
        self._configured = binaries
        self._shared = shared_socket

    @property
    def data(self) -> Path:
        """The data directory."""
        return self._layout.data

    @property
    def pids(self) -> set[int]:
        """The server's process, if its data directory names one.

        For a subreaper, to which the server may have moved up: it is nobody's leftover.
        """
        said = pidfile.read(self.data)
        return set() if said is None else {said.pid}

    @property
    def log_path(self) -> Path:
        """The server's log."""
        return self._layout.log

    @property
    def socket_directory(self) -> Path:
        """Where the socket is, or will be after the next start."""
        said = pidfile.read(self.data)
        if said is not None and said.socket_directory is not None:
            return said.socket_directory
        from flow.embedded import sockets

        return sockets.choose(self._layout.root, self._shared)

    @property
    def dsn(self) -> str:
        """libpq's keywords for Flow's database."""
        return address.dsn(self.socket_directory)

    @property
    def binaries(self) -> Binaries:
        """The programs that fit this server's data. Raises `NoPostgres`."""
        from flow.embedded import binaries, cluster

        return binaries.find(self._configured, cluster.major_version(self.data))

    @property
    def psql(self) -> Path:
        """PostgreSQL's own client of the same version. Raises `NoPostgres`."""
        return self.binaries.psql

    def running(self) -> bool:
        """Whether the server takes connections. Takes about a millisecond."""
        return pidfile.attachable(self.data) is not None

    def start(self, on_start: Callable[[], None] | None = None) -> str:
        """Start the server unless it runs, make database and role at the first time; the DSN.

        `on_start` is called by the one process that has started it, not by those that attach.
        Safe for any number of processes at once. Raises `NoPostgres` without programs, and
        `DatabaseError` with the log's end when the server does not come up.
        """
        directory = pidfile.attachable(self.data) or self._starter().start(on_start)
        if self._shared:
            from flow.embedded import sockets

            sockets.open_to_others(directory)
        return address.dsn(directory)

    def stop(self) -> None:
        """End the server and its connections; nothing happens when it does not run."""
        self._starter().stop()

    def create_database(self, name: str, owner: str, password: str) -> str:
        """One more database, owned by a role that logs in by password on the same socket.

        Starts the server if need be. The role cannot connect to Flow's database. May be called
        again; the password is then the new one. Returns the DSN without the password. Raises
        `UsageError` for an illegal name and `Conflict` when the name is taken otherwise.
        """
        from flow.embedded import account, cluster, database, lock

        cluster.require_free_name(name)
        cluster.require_free_name(owner)
        flow_dsn = self.start()
        with lock.held(self._layout):
            database.create(flow_dsn, name, owner, password)
            cluster.admit_with_password(self.data, name, owner, account.for_server(self.data))
            database.reload(flow_dsn)
        dsn = address.dsn(self.socket_directory, owner, name)
        database.wait_for_login(dsn, password)
        return dsn

    def _starter(self) -> Starter:
        from flow.embedded.starter import Starter

        return Starter(self._layout, self._configured, self._shared)
