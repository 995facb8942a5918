"""What one sweep decides: which files to parse, and which are gone. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from flow.store.dag_files import KnownFile

RETRY_AFTER: Final = 300.0
"""Seconds after which a file that failed is tried again although nothing local has changed: what
it lacked may have been installed."""


class Attempt(NamedTuple):
    """What this process found when it parsed a file, or when it saw that another one had."""

    code_hash: str
    modules: Mapping[str, str]
    at: float
    """Monotonic clock, in seconds."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a sweep sees. Paths are absolute."""

    hashes: Mapping[str, str]
    """Code hash by file that is there, over the modules that `modules` names for it."""
    known: Mapping[str, KnownFile]
    attempts: Mapping[str, Attempt]
    missing: Collection[str]
    """Known files that are not there, and would be seen if they were."""
    now: float
    busy: Collection[str] = ()
    """Files that are being parsed."""
    before: Collection[str] | None = None
    """Files that the sweep before saw; None: this is the first."""
    code_changed: bool = False
    """Some file has come, gone or changed since the sweep before."""


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


def plan(sight: Sight) -> Plan:
    """Decide.

    A file is parsed when it or a local module that it imported has changed since *this* process
    knew its state; without such knowledge the database's counts. So of two processes that see
    different copies for a while (a deployment on its way) each parses its copy once, instead of
    both undoing each other's work for ever. For the same reason only a file that this process has
    seen itself is gone when it is missing, except at the start.

    A file that failed is tried again when any code has changed (it may be the module it lacked),
    at the start, when an id that it was refused has become free, and after `RETRY_AFTER`.
    """
    changed, again = [], []
    for path in sorted(sight.hashes.keys() - set(sight.busy)):
        if path not in sight.known or sight.hashes[path] != _last_hash(path, sight):
            changed.append(path)
        elif sight.known[path].freed or (sight.known[path].failed and _worth_trying(path, sight)):
            again.append(path)
    gone = [
        path
        for path in sorted(set(sight.missing) - set(sight.busy))
        if sight.before is None or path in sight.before
    ]
    return Plan(changed, again, gone)


def _last_hash(path: str, sight: Sight) -> str:
    attempt = sight.attempts.get(path)
    return attempt.code_hash if attempt else sight.known[path].code_hash


def _worth_trying(path: str, sight: Sight) -> bool:
    attempt = sight.attempts.get(path)
    return sight.code_changed or attempt is None or sight.now - attempt.at >= RETRY_AFTER
