"""The line from one role to PostgreSQL, which can be cut, stalled, slowed, and robbed of an answer.

Each role has a line of its own: a port of this host, behind which a thread copies what it hears to
the server's socket and back. One thread serves all lines.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from chaos.answers import Answers

_PIECE: Final = 1 << 16
_DELAY: Final = 0.25
"""Seconds that a slow line takes for each piece, either way."""


class Line:
    """One role's line. Its methods may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, server: Callable[[], Path | None]) -> None:
        self._loop = loop
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sessions: set[asyncio.Task[None]] = set()
        self._open = asyncio.Event()
        self._open.set()
        self._slow = False
        self._refusing = False
        self._robbing = False
        self.robbed = 0
        """Answers to a COMMIT that were lost here."""

    @property
    def url(self) -> str:
        """What the role connects to."""
        port = self._listener.getsockname()[1]
        return f"postgresql://flow@127.0.0.1:{port}/flow?sslmode=disable&gssencmode=disable"

    def cut(self) -> None:
        """End all sessions, and refuse new ones until `mend`."""
        self._call(self._cut)

    def stall(self) -> None:
        """Say nothing more, without ending anything, until `mend`."""
        self._call(self._open.clear)

    def slow(self) -> None:
        """Take a quarter of a second for each piece, until `mend`."""
        self._call(lambda: setattr(self, "_slow", True))

    def rob(self) -> None:
        """Lose the next answer to a COMMIT, with its session; `mend` gives it up."""
        self._call(lambda: setattr(self, "_robbing", True))

    def mend(self) -> None:
        """Be an ordinary line again."""
        self._call(self._mend)

    async def serve(self) -> None:
        """Take sessions, for ever."""
        server = await asyncio.start_server(self._take, sock=self._listener)
        async with server:
            await server.serve_forever()

    def _call(self, act: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(act)

    def _cut(self) -> None:
        self._refusing = True
        for session in self._sessions:
            session.cancel()

    def _mend(self) -> None:
        self._refusing = self._slow = self._robbing = False
        self._open.set()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = asyncio.current_task()
        assert session is not None  # asyncio runs each session as a task
        self._sessions.add(session)
        try:
            await self._carry(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # one of the ends is gone, or the line was cut: for both the session is over
        finally:
            self._sessions.discard(session)
            writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = self._server()
        if self._refusing or path is None:
            return
        await self._open.wait()
        from_server, to_server = await asyncio.open_unix_connection(path)
        try:
            ways = (
                asyncio.create_task(self._ask(reader, to_server)),
                asyncio.create_task(self._answer(from_server, writer)),
            )
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        finally:
            to_server.transport.abort()

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(_PIECE):
            await self._pass(piece, writer)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers = Answers()
        while piece := await reader.read(_PIECE):
            whole, robbed = answers.take(piece, rob=self._robbing)
            await self._pass(whole, writer)
            if robbed:
                self._robbing = False
                self.robbed += 1
                return

    async def _pass(self, piece: bytes, writer: asyncio.StreamWriter) -> None:
        if self._slow:
            await asyncio.sleep(_DELAY)
        await self._open.wait()
        writer.write(piece)
        await writer.drain()


class Exchange:
    """All lines of a deployment, and the thread that serves them."""

    def __init__(self, server: Callable[[], Path | None]) -> None:
        self._server = server
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="lines", daemon=True)
        self._thread.start()

    def line(self) -> Line:
        """A new line to the server."""
        line = Line(self._loop, self._server)
        asyncio.run_coroutine_threadsafe(line.serve(), self._loop)
        return line

    def close(self) -> None:
        """End all lines."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()
