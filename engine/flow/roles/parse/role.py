"""The DAG processor's loop."""

from __future__ import annotations

import logging
import os
import selectors
import socket
from contextlib import closing
from typing import Final

from flow.roles.hearing import Hearing
from flow.roles.loop import Stop, keep_going, patience, wait
from flow.roles.parse.imports import Imports
from flow.roles.parse.memory import Memory
from flow.roles.parse.parser import Parser
from flow.roles.parse.settings import Settings
from flow.roles.parse.succession import succeed
from flow.roles.parse.watch import Watch
from flow.roles.registration import Registration
from flow.roles.service_manager import NOBODY, ServiceManager
from flow.store import migrate
from flow.store.connect import connect
from flow.store.notify import PARSE

log = logging.getLogger(__name__)

_NAME: Final = "parse"


def serve(
    settings: Settings, stop: Stop, *, once: bool = False, manager: ServiceManager = NOBODY
) -> None:
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
        allowed = patience(settings.lost_after)
        with connect(settings.dsn, name=_NAME, patience=allowed) as conn:
            migrate.require(conn)
            if not registration.registered:
                succeed(conn)
            marker = f"{_NAME}-{socket.gethostname()}-{os.getpid()}"
            with closing(
                Imports(marker, settings.limits, settings.user, settings.keep, settings.timezone)
            ) as imports:
                registration.keep(conn)
                parser = Parser(settings, conn, imports, memory, registration)
                if once:
                    parser.run_once()
                else:
                    _serve(parser, settings, stop, manager)
            registration.end(conn)

    keep_going(_NAME, stop, session, manager)


def _serve(parser: Parser, settings: Settings, stop: Stop, manager: ServiceManager) -> None:
    with closing(Watch(settings.folders)) as watch, selectors.DefaultSelector() as selector:
        for source in (watch, stop, parser):
            selector.register(source, selectors.EVENT_READ)
        hearing = Hearing(settings.listen_dsn, (PARSE,), selector)
        try:
            log.info("parsing")
            manager.ready()
            while not stop:
                watch.renew()
                if hearing.keep():
                    parser.sweep_soon()
                seconds = min(parser.work(), manager.patience)
                manager.progress(parser.describe)
                for key in wait(selector, seconds):
                    if key.fileobj is watch:
                        parser.unheard = watch.warnings
                        parser.look_at(watch.take())
                    elif key.data is hearing and hearing.hear():
                        parser.sweep_soon()
                    elif key.fileobj is stop:
                        stop.drain()
            manager.stopping()
        finally:
            hearing.close()
