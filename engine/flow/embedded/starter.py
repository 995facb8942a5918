"""Starting the server when none can be attached to, and stopping it.

Apart from `Server`, because only the first process of a deployment needs any of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from flow.embedded import account, binaries, cluster, files, lock, pidfile, postmaster, sockets
from flow.embedded.account import Account
from flow.embedded.binaries import Binaries
from flow.embedded.layout import Layout
from flow.errors import DatabaseError

_START_LIMIT: Final = 300.0
"""Seconds; a server that was killed first replays what it had not written to its tables."""
_LEFTOVER_LIMIT: Final = 60.0
"""Seconds in which the processes of a killed server must have noticed its end."""
_LEFTOVER_PAUSE: Final = 0.1
_STILL_IN_USE: Final = "is still in use"
"""PostgreSQL's words when processes of a killed server hold its shared memory."""
_LONGEST_LOG: Final = 10_000_000
"""Bytes of log above which a start begins a new file and keeps one old one."""


@dataclass(frozen=True)
class Starter:
    """Starts and stops the server of one layout."""

    layout: Layout
    configured: Path | None
    shared: bool

    def start(self, on_start: Callable[[], None] | None = None) -> Path:
        """The socket directory of the server, which takes connections when this returns.

        One process starts it, and has `on_start` called; others that come meanwhile wait and
        attach.
        """
        files.make_home(self.layout.home)
        owner = account.for_server(self.layout.data)
        self._require_reach(owner)
        files.make_directory(self.layout.root, files.PASSABLE, owner)
        with lock.held(self.layout):
            directory = pidfile.attachable(self.layout.data)
            if directory is not None:
                return directory
            directory = self._bring_up(owner)
        if on_start is not None:
            on_start()
        return directory

    def stop(self) -> None:
        """End the server; nothing happens when there is none."""
        if not self.layout.root.is_dir():
            return
        with lock.held(self.layout):
            pid = pidfile.live_pid(self.layout.data)
            if pid is not None:
                postmaster.end(pid, self.layout.data)

    def _bring_up(self, owner: Account) -> Path:
        data = self.layout.data
        found = binaries.find(self.configured, cluster.major_version(data))
        programs = self._runnable(found, owner)
        if not data.exists():
            cluster.create(programs, owner, data)
        directory = self._settled()
        if directory is not None:
            return directory
        directory = sockets.choose(self.layout.root, self.shared)
        sockets.prepare(directory, self.layout.root, owner, self.shared)
        cluster.write_settings(data, directory, owner)
        postmaster.remove_leftovers(data, directory)
        self._rotate_log()
        self._launch_until_up(programs, owner)
        return directory

    def _settled(self) -> Path | None:
        """The live server's socket directory, or None when there is no live server any more.

        Waits while one is on its way up or down. Ends one that lost its socket: that happens when
        a login's runtime directory is removed, and nobody could ever connect to it again. Ends one
        that does not get down by itself: PostgreSQL 18 hangs when it is told to end while it
        recovers from the death of a session.
        """
        data = self.layout.data

        def at_rest() -> bool:
            return (
                pidfile.live_pid(data) is None
                or pidfile.attachable(data) is not None
                or pidfile.lost_its_socket(data)
            )

        falling = pidfile.is_stopping(data)
        rests = postmaster.wait_until(at_rest, postmaster.FAST_LIMIT if falling else _START_LIMIT)
        if not rests and not pidfile.is_stopping(data):
            raise self._not_ready()
        directory = pidfile.attachable(data)
        pid = pidfile.live_pid(data)
        if directory is None and pid is not None:
            # One that has been on its way down need not be asked again.
            postmaster.end(pid, data, postmaster.FAST_LIMIT if rests else 0.0)
        return directory

    def _launch_until_up(self, programs: Binaries, owner: Account) -> None:
        deadline = time.monotonic() + _LEFTOVER_LIMIT
        while not self._launch(programs, owner):
            if time.monotonic() > deadline:
                raise DatabaseError(
                    "Processes of a killed database server still work on the embedded data.",
                    f"Find them (ps -ef | grep postgres:) and end them. Log: {self.layout.log}",
                )
            time.sleep(_LEFTOVER_PAUSE)

    def _launch(self, programs: Binaries, owner: Account) -> bool:
        """Launch and wait. False: processes of a killed server are still there, try again."""
        data, log = self.layout.data, self.layout.log
        written = log.stat().st_size if log.exists() else 0
        pid = postmaster.launch(programs.postgres, data, log, owner)

        def decided() -> bool:
            return pidfile.attachable(data) is not None or not pidfile.is_coming(pid, data)

        if not postmaster.wait_until(decided, _START_LIMIT):
            raise self._not_ready()
        if pidfile.is_coming(pid, data):
            return True
        said = self._logged_since(written)
        if _STILL_IN_USE in said:
            return False
        raise DatabaseError(
            f"The embedded database did not start: {said.strip()[-2000:]}",
            f"Its log is {log}; mend what it names and try again.",
        )

    def _logged_since(self, position: int) -> str:
        try:
            with self.layout.log.open("rb") as log:
                log.seek(position)
                return log.read().decode(errors="replace")
        except FileNotFoundError:
            return "it could not write its log"

    def _rotate_log(self) -> None:
        log = self.layout.log
        if log.exists() and log.stat().st_size > _LONGEST_LOG:
            log.replace(log.with_name(f"{log.name}.1"))

    def _not_ready(self) -> DatabaseError:
        return DatabaseError(
            f"The embedded database has not become ready within {_START_LIMIT:.0f} s.",
            f"It may still be recovering: look at {self.layout.log}, then try again.",
        )

    def _require_reach(self, owner: Account) -> None:
        home = self.layout.home
        if not account.can_enter(owner, home):
            raise DatabaseError(
                f"PostgreSQL does not run as root. It runs as the user {owner.name}, who cannot "
                f"enter {home}.",
                "Set FLOW_HOME to a folder that everybody may pass through (such as "
                f"/var/lib/flow), or open this one: chmod o+x {home}",
            )

    def _runnable(self, found: Binaries, owner: Account) -> Binaries:
        """The programs, or a copy of them beside the data if the account cannot run them."""
        if account.can_enter(owner, found.postgres):
            return found
        tree = found.directory.parent
        below = Path(tree.parent.name, tree.name)
        copy = self.layout.copied_binaries(found.version)
        if not copy.exists():
            sources = {str(below): tree}
            libraries = tree.parent.with_name(f"{tree.parent.name}.libs")
            if libraries.is_dir():  # a wheel's programs find these by their own relative place
                sources[libraries.name] = libraries
            files.copy_trees(sources, copy)
        directory = copy / below / found.directory.name
        return replace(found, directory=directory, source=f"copy of {found.source}")
