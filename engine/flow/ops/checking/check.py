"""`flow check` from its request to its report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from flow.errors import NotFound
from flow.ops.checking import across, faults, habits, rules, stability, top_level
from flow.ops.checking.changes import changed_files
from flow.ops.checking.evidence import Evidence, Known, cost, import_of
from flow.ops.checking.findings import Finding, Severity
from flow.ops.checking.ignores import Ignores, ignores, unknown
from flow.ops.checking.importing import Importing
from flow.ops.checking.targets import Target, targets
from flow.ops.rehearsal import request as words
from flow.ops.rehearsal.memory import Memory
from flow.ops.slow_imports import Cost
from flow.ops.suggest import did_you_mean
from flow.process.archive import ARCHIVE
from flow.process.verdict import Limits
from flow.roles.parse.imports import Imported

_APART: Final = 1.0
"""Seconds between the two imports of a file at least: what counts seconds moves as well."""


class Request(NamedTuple):
    """What somebody wants to have checked."""

    paths: Sequence[Path]
    """DAG files and folders; none: the DAG folders of the settings."""
    changed: str | None = None
    """A Git ref: tell only of files that have changed since, and of those that import such."""
    also: Sequence[str] = ()
    """Rules to look at that are off by default."""
    budget: float | None = None
    """Seconds that an import may take; more is an error."""
    variables: Sequence[str] = ()
    """KEY=VALUE each."""
    connections: Sequence[str] = ()
    """ID=URI each, or ID={JSON}."""


class Settings(NamedTuple):
    """How DAG files are found and imported here."""

    folders: Sequence[Path]
    timeout: float
    """Seconds that one import may take."""
    memory: int
    """Bytes of data that it may have."""
    timezone: str = "UTC"
    """Zone of DAGs whose start date names none."""
    regexp_ignore: bool = False
    """`.airflowignore` files are lines of regular expressions, not like `.gitignore`."""
    pools: Collection[str] | None = None
    queues: Collection[str] | None = None
    """All that there are; None: nobody has said it."""

    @property
    def limits(self) -> Limits:
        """What one import may take."""
        return Limits(self.timeout, self.memory)

    @property
    def known(self) -> Known:
        """The names that can be known without a database."""
        return Known(_names(self.pools), _names(self.queues))


class ImportTree(NamedTuple):
    """Where the time of an import goes."""

    file: str
    seconds: float
    modules: list[Cost]


class Report(NamedTuple):
    """What a check has found, in order of place."""

    files: list[str]
    """The files that it is about, absolute."""
    findings: list[Finding]
    slow: list[ImportTree]

    def failed(self, *, strict: bool) -> bool:
        """Whether there are errors; where it is strict, or warnings."""
        ending = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
        return any(one.severity in ending for one in self.findings)


Progress = Callable[[str, int], Callable[[int], None]]
"""Told what begins and of how many files; answers whom to tell how many are done by now."""


def check(request: Request, settings: Settings, progress: Progress) -> Report:
    """Import the files that are meant, twice, and look at them with every rule.

    Raises `NotFound` for a path, rule or ref that is not there, and where no path has a DAG file,
    `UsageError` for what cannot be meant, and `KeyboardInterrupt` once every process has ended.
    """
    also = _also(request.also)
    memory = Memory(
        os.environ, words.variables(request.variables), words.connections(request.connections)
    )
    paths = request.paths or settings.folders
    meant = targets(paths, settings.folders, regexp=settings.regexp_ignore)
    if not meant.files and not meant.unreadable:
        raise NotFound(
            f"there is no DAG file in {', '.join(map(str, paths))}",
            "name the files, or the folder that holds them: flow check dags",
        )
    changed = None
    if request.changed is not None:
        changed = changed_files(request.changed, {Path(one.root) for one in meant.files})
    rounds = _Rounds(settings, memory, progress)
    everything = rounds.first(meant.files)
    chosen = [one for one in everything if changed is None or _concerns(one, changed)]
    chosen = rounds.second(chosen)
    shown = {one.file for one in chosen}
    found = [
        *meant.unreadable,
        *(one for one in across.duplicates(everything) if one.file in shown),
        *(one for evidence in chosen for one in findings(evidence, request.budget, settings.known)),
    ]
    told = _in_order(_told(found, chosen, also))
    return Report(
        [one.file for one in chosen], told, [] if request.budget is None else _trees(told, chosen)
    )


def findings(evidence: Evidence, budget: float | None, known: Known) -> Iterator[Finding]:
    """What every rule says of one file. Pure."""
    yield from faults.import_errors(evidence)
    yield from faults.timetables(evidence)
    yield from faults.warnings(evidence)
    yield from faults.slowness(evidence, budget)
    yield from top_level.deeds(evidence)
    yield from stability.movements(evidence)
    yield from across.places(evidence, known)
    yield from habits.appends(evidence)
    yield from habits.logical_dates(evidence)


class _Rounds:
    """The two imports of each file."""

    def __init__(self, settings: Settings, memory: Memory, progress: Progress) -> None:
        self._settings = settings
        self._memory = memory
        self._progress = progress
        self._latest = float("-inf")

    def first(self, files: Sequence[Target]) -> list[Evidence]:
        """Import files for the first time."""
        found = self._import("importing", files)
        self._latest = max((one.started for one in found.values()), default=self._latest)
        return [_evidence(one, found[one.file], self._settings.limits) for one in files]

    def second(self, all_evidence: Sequence[Evidence]) -> list[Evidence]:
        """Import those again that could be imported."""
        sound = [one for one in all_evidence if one.first.failure is None]
        if sound:
            time.sleep(max(0.0, self._latest + _APART - time.monotonic()))
        found = self._import("importing again", [Target(one.file, one.root) for one in sound])
        again = {file: import_of(one, self._settings.limits) for file, one in found.items()}
        return [one._replace(again=again.get(one.file)) for one in all_evidence]

    def _import(self, label: str, files: Sequence[Target]) -> dict[str, Imported]:
        if not files:
            return {}
        done = self._progress(label, len(files))
        limits, timezone = self._settings.limits, self._settings.timezone
        return Importing(limits, timezone, self._memory, done).run(files)


def _names(said: Collection[str] | None) -> frozenset[str] | None:
    return None if said is None else frozenset(said)


def _also(names: Sequence[str]) -> frozenset[str]:
    for name in names:
        if name not in rules.RULES:
            raise NotFound(
                f"there is no rule {name!r}",
                did_you_mean(name, list(rules.RULES), "flow-check(7) lists the rules"),
            )
    return frozenset(names)


def _evidence(target: Target, imported: Imported, limits: Limits) -> Evidence:
    source = "" if target.file.endswith(ARCHIVE) else _source(target.file)
    return Evidence(target.file, target.root, source, import_of(imported, limits))


def _source(file: str) -> str:
    """The text of a file of code; "" where it is none, or not there."""
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return ""


def _concerns(evidence: Evidence, changed: frozenset[str]) -> bool:
    """Whether a file, or a local file that its import read or lacked, has changed."""
    own = os.path.realpath(evidence.file)
    return own in changed or any(os.path.realpath(path) in changed for path in evidence.read)


def _told(
    found: Sequence[Finding], chosen: Sequence[Evidence], also: frozenset[str]
) -> Iterator[Finding]:
    """Each finding once, of the rules that count here, without those that a comment silences."""
    read: dict[str, Ignores] = {one.file: ignores(one.source) for one in chosen}
    for file, comments in list(read.items()):
        yield from unknown(file, comments.written)
    for one in dict.fromkeys(found):
        if one.file not in read:  # a module of the user's
            read[one.file] = ignores(_source(one.file))
        on = rules.RULES[one.rule].default or one.rule in also
        if on and not read[one.file].silence(one):
            yield one


def _in_order(found: Iterator[Finding]) -> list[Finding]:
    return sorted(found, key=lambda one: (one.file, one.line or 0, one.rule, one.message))


def _trees(told: Sequence[Finding], chosen: Sequence[Evidence]) -> list[ImportTree]:
    """Where the time goes of the imports that were told to be slow."""
    slow = {one.file for one in told if one.rule == rules.SLOW_IMPORT}
    return [
        ImportTree(one.file, one.seconds, [cost(at) for at in one.first.parsed.imports])
        for one in chosen
        if one.file in slow
    ]
