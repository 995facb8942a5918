"""The DAG processor's loop."""

from __future__ import annotations

import logging
import os
import selectors
import socket
from typing import Final

from flow.roles.loop import Stop, keep_going, wait
from flow.roles.parse.imports import Imports
from flow.roles.parse.parser import Memory, Parser
from flow.roles.parse.settings import Settings
from flow.roles.parse.succession import succeed
from flow.roles.parse.watch import Watch
from flow.roles.registration import Registration
from flow.store import migrate
from flow.store.connect import connect
from flow.store.notify import PARSE, Listener

log = logging.getLogger(__name__)

_NAME: Final = "parse"


def serve(settings: Settings, stop: Stop, *, once: bool = False) -> None:
    """Run a DAG processor until `stop`; with `once` until every file has been parsed."""
    memory = Memory()
    registration = Registration(
        _NAME,
        settings.version,
        heartbeat=settings.heartbeat,
        lost_after=settings.lost_after,
        slots=settings.processes,
    )

    def session() -> None:
        with connect(settings.dsn, name=_NAME) as conn:
            migrate.require(conn)
            if not registration.registered:
                succeed(conn)
            marker = f"{_NAME}-{socket.gethostname()}-{os.getpid()}"
            with Imports(
                marker, settings.limits, settings.user, settings.keep, settings.timezone
            ) as imports:
                registration.keep(conn)
                parser = Parser(settings, conn, imports, memory, registration)
                if once:
                    parser.run_once()
                else:
                    _serve(parser, settings, stop)
            registration.end(conn)

    keep_going(_NAME, stop, session)


def _serve(parser: Parser, settings: Settings, stop: Stop) -> None:
    listener = Listener(settings.listen_dsn, (PARSE,))
    try:
        with Watch(settings.folders) as watch, selectors.DefaultSelector() as selector:
            for source in (listener, watch, stop, parser):
                selector.register(source, selectors.EVENT_READ)
            log.info("parsing")
            while not stop:
                watch.renew()
                for key in wait(selector, parser.work()):
                    if key.fileobj is watch:
                        parser.look_at(watch.take())
                    elif key.fileobj is listener and listener.drain():
                        parser.sweep_soon()
                    elif key.fileobj is stop:
                        stop.drain()
    finally:
        listener.close()
