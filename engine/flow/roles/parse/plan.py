"""What one sweep decides: which files to parse, and which are gone. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from flow.store.dag_files import KnownFile

RETRY_AFTER: Final = 300.0
"""Seconds after which a file that failed is tried again although nothing that it read has changed:
what it lacked may have been installed, or answers again. The pause doubles each time."""
_LONGEST_PAUSE: Final = 24 * 3600.0


class State(NamedTuple):
    """What a file is made of; the same state imports alike."""

    code_hash: str
    """Of the file and the local modules that it imported (`flow.process.code`)."""
    variables: Mapping[str, str | None] = {}
    """The variables that it read while it was imported, with their stamps."""


class Attempt(NamedTuple):
    """What this process found when it parsed a file, or when it saw that another one had."""

    state: State
    modules: Mapping[str, str]
    at: float
    """Monotonic clock, in seconds."""
    failures: int = 0
    """How often in a row it failed in this state."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a sweep sees. Paths are absolute."""

    states: Mapping[str, State]
    """State by file that is there, over the modules and variables that it is known to read."""
    known: Mapping[str, KnownFile]
    attempts: Mapping[str, Attempt]
    missing: Collection[str]
    """Known files that are not there, and would be seen if they were."""
    now: float
    busy: Collection[str] = ()
    """Files that are being parsed."""
    before: Collection[str] | None = None
    """Files that the sweep before saw; None: this is the first."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do."""

    changed: list[str] = field(default_factory=list)
    """New or changed: parse these first."""
    again: list[str] = field(default_factory=list)
    """Failed before, and may succeed now."""
    gone: list[str] = field(default_factory=list)


def modules(
    path: str, attempts: Mapping[str, Attempt], known: Mapping[str, KnownFile]
) -> Mapping[str, str]:
    """The local modules whose change makes a file worth parsing."""
    if path in attempts:
        return attempts[path].modules
    return known[path].modules if path in known else {}


def variables(
    path: str, attempts: Mapping[str, Attempt], known: Mapping[str, KnownFile]
) -> Collection[str]:
    """The variables whose change makes a file worth parsing."""
    if path in attempts:
        return attempts[path].state.variables
    return known[path].variables if path in known else ()


def state_of(known: KnownFile) -> State:
    """The state in which a file was parsed last."""
    return State(known.code_hash, known.variables)


def plan(sight: Sight) -> Plan:
    """Decide.

    A file is parsed when it, a local module that it imported or a variable that it read has changed
    since *this* process knew its state; without such knowledge the database's counts. So of two
    processes that see different copies for a while (a deployment on its way) each parses its copy
    once, instead of both undoing each other's work for ever. For the same reason only a file that
    this process has seen itself is gone when it is missing, except at the start.

    A file that failed is tried again at the start, when an id that it was refused has become free,
    and after a pause. A module that it lacked is among those that it imported.
    """
    changed, again = [], []
    for path in sorted(sight.states.keys() - set(sight.busy)):
        if path not in sight.known or sight.states[path] != _last_state(path, sight):
            changed.append(path)
        elif sight.known[path].freed or (sight.known[path].failed and _worth_trying(path, sight)):
            again.append(path)
    gone = [
        path
        for path in sorted(set(sight.missing) - set(sight.busy))
        if sight.before is None or path in sight.before
    ]
    return Plan(changed, again, gone)


def _last_state(path: str, sight: Sight) -> State:
    attempt = sight.attempts.get(path)
    return attempt.state if attempt else state_of(sight.known[path])


def _worth_trying(path: str, sight: Sight) -> bool:
    attempt = sight.attempts.get(path)
    if attempt is None:
        return True
    pause = RETRY_AFTER * 2.0 ** min(attempt.failures - 1, 16)
    return sight.now - attempt.at >= min(pause, _LONGEST_PAUSE)
