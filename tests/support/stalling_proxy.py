"""A line to PostgreSQL that can be stalled and cut: bytes go through it, or they do not.

A stalled line stays open and takes connections, and nothing comes out of it at the other end, not
even that somebody has hung up: what a client sees of a host that has lost its network.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self
from urllib.parse import quote

PORT = 5432


class StallingProxy:
    """Listens in a folder of its own, as a server would, and passes on to another one's socket."""

    def __init__(self, folder: Path, target: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._target = str(target / f".s.PGSQL.{PORT}")
        self._valves: list[threading.Event] = []
        self._new_valve()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._name = folder / f".s.PGSQL.{PORT}"
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(self._name))
        self._door.listen()
        threading.Thread(target=self._welcome, daemon=True).start()

    @property
    def url(self) -> str:
        """The URL of Flow's database through this line."""
        return f"postgresql://flow@/flow?host={quote(str(self.folder), safe='')}"

    def stall(self) -> None:
        """From now on nothing comes through."""
        self._valves[-1].clear()

    def flow(self) -> None:
        """From now on everything comes through, and what was held back first."""
        self._valves[-1].set()

    def freeze(self) -> None:
        """Nothing comes through the lines that are open, ever again; new ones work."""
        self.stall()
        self._new_valve()

    def cut(self) -> None:
        """Close every line that is open."""
        with self._lock:
            lines = list(self._open)
        for line in lines:
            _hang_up(line)

    def close(self) -> None:
        """Close everything, and take no more lines, as a server that is down."""
        self._name.unlink(missing_ok=True)
        _hang_up(self._door)
        self._door.close()
        self.cut()
        for valve in self._valves:
            valve.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _new_valve(self) -> None:
        valve = threading.Event()
        valve.set()
        self._valves.append(valve)

    def _welcome(self) -> None:
        while True:
            try:
                client, _ = self._door.accept()
            except OSError:
                return  # closed
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self._target)
            except OSError:
                client.close()
                server.close()
                continue
            with self._lock:
                self._open |= {client, server}
            valve = self._valves[-1]
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(*ends, valve), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, valve: threading.Event) -> None:
        try:
            while data := source.recv(1 << 16):
                valve.wait()
                sink.sendall(data)
        except OSError:
            pass  # one end has hung up: so does the other
        valve.wait()
        for line in (source, sink):
            _hang_up(line)
        with self._lock:
            self._open.discard(source)
        source.close()


@contextmanager
def stalling_line(target: Path) -> Iterator[StallingProxy]:
    """A line to the server with its socket in this folder; its own folder has a short name."""
    with (
        TemporaryDirectory(prefix="fl-", dir="/tmp") as folder,
        StallingProxy(Path(folder) / "line", target) as line,
    ):
        yield line


def _hang_up(line: socket.socket) -> None:
    try:
        line.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it was closed
