"""Fault points: named places where a process can be made to fail on purpose.

    FLOW_FAULTS="zygote.start.before_fork=kill@3;host.ended.received=sleep:2"

`name=action[@N]`, separated by `;`. Actions: `kill` (SIGKILL to this process), `stop` (SIGSTOP),
`exit` (leave at once with status 70), `sleep:SECONDS`, `raise` (`FaultInjected`). Without `@N` a
point acts at every hit, with it at the N-th hit only. Hits are counted per process; a forked
child goes on from its parent's count.

`FLOW_FAULTS_ONCE_DIR` names a folder in which a point leaves a marker file when it acts; it then
never acts again, in no process and after no restart, while the file is there.

Without FLOW_FAULTS in the environment a point costs one comparison.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flow.errors import ConfigError

EXIT_STATUS: Final = 70
"""Exit status of the action `exit`."""

_PLAIN_ACTIONS: Final = frozenset({"kill", "stop", "exit", "raise"})


class FaultInjected(Exception):
    """Raised by a fault point whose action is `raise`."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens at one point."""

    action: str
    """kill · stop · exit · raise · sleep"""
    seconds: float = 0.0
    """How long `sleep` sleeps."""
    hit: int | None = None
    """The only hit that counts; None: all."""


def parse(text: str) -> dict[str, Fault]:
    """Read the value of FLOW_FAULTS. Raises ConfigError where it is not of that form."""
    faults = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        name, equals, what = part.partition("=")
        action, at, hit = what.partition("@")
        action, colon, seconds = action.partition(":")
        try:
            fault = Fault(action, float(seconds) if colon else 0.0, int(hit) if at else None)
        except ValueError:
            raise _malformed(part) from None
        if not equals or not (action == "sleep" if colon else action in _PLAIN_ACTIONS):
            raise _malformed(part)
        faults[name.strip()] = fault
    return faults


def _malformed(part: str) -> ConfigError:
    return ConfigError(
        f"FLOW_FAULTS: cannot read {part!r}",
        "write name=kill, stop, exit, raise or sleep:SECONDS, each with an optional @N, "
        "separated by semicolons",
    )


_plan: dict[str, Fault] | None = parse(os.environ.get("FLOW_FAULTS", "")) or None
_hits: dict[str, int] = {}


def point(name: str) -> None:
    """Fail here if the environment says so. Names read `part.event.moment`."""
    if _plan is None:
        return
    fault = _plan.get(name)
    if fault is None:
        return
    _hits[name] = _hits.get(name, 0) + 1
    if fault.hit in (None, _hits[name]) and _first_time(name):
        _act(name, fault)


@contextmanager
def suspended() -> Iterator[None]:
    """Within the block no point acts, and no hit counts: what runs there is not what is meant."""
    global _plan  # one process, one plan
    plan, _plan = _plan, None
    try:
        yield
    finally:
        _plan = plan


def _first_time(name: str) -> bool:
    """Whether the point may act: it leaves its marker, unless one is there already."""
    folder = os.environ.get("FLOW_FAULTS_ONCE_DIR")
    if not folder:
        return True
    try:
        Path(folder, name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _act(name: str, fault: Fault) -> None:
    if fault.action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif fault.action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif fault.action == "exit":
        os._exit(EXIT_STATUS)
    elif fault.action == "sleep":
        time.sleep(fault.seconds)
    else:
        raise FaultInjected(name)
