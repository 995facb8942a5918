"""The DAG processor's loop."""

from __future__ import annotations

import logging
import os
import selectors
import socket
import time
from typing import Final

from flow.roles.loop import Stop, keep_going, wait
from flow.roles.parse.imports import Imports
from flow.roles.parse.parser import Memory, Parser, Settings
from flow.store import migrate, processes
from flow.store.connect import Conn, connect, transaction
from flow.store.notify import PARSE, Listener

log = logging.getLogger(__name__)

_NAME: Final = "parse"


class Registration:
    """This process's row, and its heartbeat."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process_id: int | None = None
        self._beat_at = 0.0

    def keep(self, conn: Conn) -> float:
        """Count up when it is time, under a new row if the old one was taken for lost.

        Returns the seconds until it is time again.
        """
        now = time.monotonic()
        if now >= self._beat_at:
            mine = self._process_id
            with transaction(conn, "parse.heartbeat", durable=False):
                alive = mine is not None and processes.heartbeat(conn, mine)
            if not alive:
                self._register(conn)
            self._beat_at = now + self._settings.heartbeat
        return max(0.0, self._beat_at - time.monotonic())

    def end(self, conn: Conn) -> None:
        """Close the row."""
        if self._process_id is not None:
            with transaction(conn, "parse.retire"):
                processes.end(conn, self._process_id, "stopped")

    def _register(self, conn: Conn) -> None:
        with transaction(conn, "parse.register"):
            self._process_id = processes.register(
                conn,
                role=_NAME,
                host=socket.gethostname(),
                pid=os.getpid(),
                version=self._settings.version,
                lost_after=self._settings.lost_after,
                slots=self._settings.processes,
            )


def serve(settings: Settings, stop: Stop, *, once: bool = False) -> None:
    """Run a DAG processor until `stop`; with `once` until every file has been parsed."""
    memory = Memory()
    registration = Registration(settings)

    def session() -> None:
        with connect(settings.dsn, name=_NAME) as conn:
            migrate.require(conn)
            marker = f"{_NAME}-{socket.gethostname()}-{os.getpid()}"
            with Imports(
                marker, settings.limits, settings.user, settings.keep, settings.timezone
            ) as imports:
                parser = Parser(settings, conn, imports, memory)
                if once:
                    parser.run_once()
                else:
                    _serve(conn, parser, registration, settings.listen_dsn, stop)

    keep_going(_NAME, stop, session)


def _serve(
    conn: Conn, parser: Parser, registration: Registration, listen_dsn: str, stop: Stop
) -> None:
    listener = Listener(listen_dsn, (PARSE,))
    try:
        with selectors.DefaultSelector() as selector:
            for source in (listener, stop, parser):
                selector.register(source, selectors.EVENT_READ)
            log.info("parsing")
            while not stop:
                seconds = min(registration.keep(conn), parser.work())
                for key in wait(selector, seconds):
                    if key.fileobj is listener and listener.drain():
                        parser.sweep_soon()
                    elif key.fileobj is stop:
                        stop.drain()
    finally:
        listener.close()
    registration.end(conn)
