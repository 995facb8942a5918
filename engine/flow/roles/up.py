"""`flow up`: all roles of one machine under one supervisor, which starts anew what dies.

Children are ordinary `flow parse|schedule|work` processes in sessions of their own, so a terminal's
Ctrl-C reaches the supervisor alone, and it decides. The supervisor holds no state: killed, its
children notice (their parent is gone) and drain; started again, it starts them again.
"""

from __future__ import annotations

import logging
import os
import random
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from flow.process import prctl, tree
from flow.roles.bell import Bell
from flow.roles.loop import Stop, wait

log = logging.getLogger(__name__)

_QUICK: Final = 5.0
"""A child that lived shorter than this, in seconds, is started again only after a pause."""
_SILENT: Final = 1.0
"""Seconds of an end before it is told what it waits for."""
_PAUSE: Final = (0.2, 10.0)
"""First and longest pause, in seconds."""


FOLLOWS: Final = "FLOW_FOLLOWS"
"""Environment variable of a child: the pid of the supervisor that it does not outlive."""


@dataclass(frozen=True, slots=True)
class Member:
    """One role to keep running: a name for people and the arguments of `flow`."""

    name: str
    arguments: tuple[str, ...]


@dataclass(slots=True)
class _Running:
    member: Member
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    next_start: float = 0.0
    pause: float = field(default=_PAUSE[0])


def members(
    *, schedulers: int, workers: int, parse: Sequence[str], work: Sequence[str]
) -> list[Member]:
    """The roles of one machine; `parse` and `work` are further arguments of these roles."""
    return [
        Member("parse", ("parse", *parse)),
        *(Member(f"schedule {n + 1}", ("schedule",)) for n in range(schedulers)),
        *(Member(f"work {n + 1}", ("work", *work)) for n in range(workers)),
    ]


def supervise(members: Sequence[Member], stop: Stop, globals_: Sequence[str] = ()) -> None:
    """Keep `members` running until `stop`; then let them drain, at the second `stop` end at once.

    `globals_` are the options of `flow` itself (`--config …`). Returns when all are dead.
    """
    prctl.become_subreaper()
    running = [_Running(member) for member in members]
    with selectors.DefaultSelector() as selector:
        selector.register(stop, selectors.EVENT_READ)
        with _ChildDeaths() as deaths:
            selector.register(deaths, selectors.EVENT_READ)
            while not stop:
                for one in running:
                    _keep(one, globals_)
                for key in wait(selector, _next_start(running)):
                    if key.fileobj is stop:
                        stop.drain()
                    else:
                        deaths.silence()
                        _bury_adopted(running)
            _end(running, stop, selector, deaths)


def _keep(one: _Running, globals_: Sequence[str]) -> None:
    """Start a member that is not running, unless it has to wait."""
    now = time.monotonic()
    if one.process is not None:
        code = one.process.poll()
        if code is None:
            return
        one.pause = _PAUSE[0] if now - one.started > _QUICK else min(one.pause * 2, _PAUSE[1])
        # One that had worked for a while is back at once: its successor reports its death.
        quick = now - one.started <= _QUICK
        seconds = one.pause * random.uniform(0.5, 1.0) if quick else 0.0
        when = f" in {seconds:.1f} s" if quick else ""
        log.warning("%s ended (%s); starting it again%s", one.member.name, _how(code), when)
        one.next_start = now + seconds
        one.process = None
    if now >= one.next_start:
        one.started = now
        try:
            one.process = _launch(one.member, globals_)
        except OSError as error:  # no process or memory left just now
            one.next_start = now + _PAUSE[1]
            log.error("%s cannot be started: %s", one.member.name, error)


def _launch(member: Member, globals_: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "flow_cli", *globals_, *member.arguments],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, FOLLOWS: str(os.getpid())},
    )


def _bury_adopted(running: Sequence[_Running]) -> None:
    """Collect dead processes that killed members left to this one, as their nearest subreaper."""
    own = {one.process.pid for one in running if one.process is not None}
    for pid in tree.children(os.getpid()):
        if pid not in own:
            os.waitpid(pid, os.WNOHANG)


def _next_start(running: Sequence[_Running]) -> float:
    waits = [one.next_start - time.monotonic() for one in running if one.process is None]
    return max(0.0, min(waits, default=60.0))


def _end(
    running: Sequence[_Running], stop: Stop, selector: selectors.BaseSelector, deaths: _ChildDeaths
) -> None:
    """Pass stops on until every child is dead: workers last, so that drained work is reported."""
    passed, said = 0, False
    tell_at = time.monotonic() + _SILENT
    while alive := _alive(running):
        if stop.count > passed:
            passed += 1
            for process in alive.values():
                process.send_signal(signal.SIGTERM)
            continue
        if passed == 1 and not said and time.monotonic() >= tell_at:
            said = True
            log.info(
                "waiting for %s: tries that run may end; a second Ctrl-C, or flow down --now, "
                "ends them at once",
                ", ".join(alive),
            )
        for key in wait(selector, 60.0 if said else _SILENT):
            if key.fileobj is stop:
                stop.drain()
            else:
                deaths.silence()


def _alive(running: Sequence[_Running]) -> dict[str, subprocess.Popen[bytes]]:
    """The processes of members that still run, by the members' names."""
    return {
        one.member.name: one.process
        for one in running
        if one.process is not None and one.process.poll() is None
    }


class _ChildDeaths(Bell):
    """Readable when a child has died (SIGCHLD)."""

    def __enter__(self) -> _ChildDeaths:
        self._before = signal.signal(signal.SIGCHLD, lambda *_: self.ring())
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGCHLD, self._before)
        self.close()


def _how(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
