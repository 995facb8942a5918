"""Two DAG processors over thousands of files, hostile ones among them, under random edits.

Usage: soak.py [--files N] [--hostile N] [--seconds S] [--pause S] [--interval S] [--seed N]
               [--timeout S]

All is stored at first; then files are changed, moved, removed, added, turned hostile and mended,
ids are renamed and traded between files, and modules that many of them import are changed. What is
judged:

- every edit is stored, before more than a bounded number of other files have been imported: a DAG
  is where it was moved to, and gone where it is not defined any more;
- at no time is there an error of a file that is not hostile, and in the end one of each that is;
  the last good version of a file that has turned hostile stays;
- files are imported as often as they or what they read has changed, and none at all while nothing
  changes, through two sweeps;
- the processors live, have not grown, and hold no more descriptors, threads and pipes than before;
  nothing runs below them that has nothing to do, and nothing when they have ended.

The last line is JSON; exit code 1 when something was wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

import psutil

sys.path.append(str(Path(__file__).parents[1] / "bench"))

from footprint import Footprint, footprint, is_idle
from grove import Grove, Place
from harness import Conn, Deployment, deployment
from traces import Traces

_PROCESSORS: Final = 2
_MOST_BEFORE: Final = 300
"""Imports of other files between an edit and that of its file: what a processor goes on with until
it has heard of the edit, when a module that hundreds of files read has changed just before."""
_REPEATED: Final = 0.02
"""Share of imports that may be done again: a zygote died beside them, or they were slow."""
_PLACES: Final = """
select d.dag_id, d.file, (regexp_match(s.body, '"task_id":"(token_[0-9_]+)"'))[1] from dag d
join dag_version v on v.dag_id = d.dag_id and v.number = d.version
join spec s on s.hash = v.spec_hash
where d.present and (%(ids)s::text[] is null or d.dag_id = any(%(ids)s::text[]))
"""
_BROKEN: Final = "select path, error from dag_file where error is not null"


@dataclass(slots=True)
class Verdict:
    """What a soak has found."""

    figures: dict[str, Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Soak:
    """One soak at work."""

    asked: argparse.Namespace
    conn: Conn
    grove: Grove
    traces: Traces
    verdict: Verdict = field(default_factory=Verdict)
    waits: list[float] = field(default_factory=list)
    """Seconds until each edit was stored."""
    before: list[int] = field(default_factory=list)
    """Imports of other files between each edit and that of its own file."""

    @property
    def patience(self) -> float:
        """Seconds after which it is given up that everything gets stored."""
        return 600.0 + self.asked.files + self.asked.hostile * float(self.asked.timeout)

    def edit(self) -> None:
        """Edit for so many seconds, or until an edit is not stored."""
        end = time.monotonic() + self.asked.seconds
        while time.monotonic() < end:
            began, line = time.monotonic(), self.traces.end()
            wanted = self.grove.edit()
            if wanted:
                if not _until(lambda w=wanted: self._is_stored(w), self.asked.timeout * 30):
                    self.verdict.wrong.append(f"not stored in time: {wanted}")
                    return
                self.waits.append(time.monotonic() - began)
                edit = self.grove.edits
                self.before += [
                    self.traces.before(dag_id, edit, line)
                    for dag_id, place in wanted.items()
                    if place
                ]
                self._look_for_errors()
            time.sleep(self.asked.pause * self.grove.random.random())

    def settle(self, when: str) -> None:
        """Wait until what is stored is what is in the folder."""
        if not _until(lambda: not self._differences(), self.patience, pause=0.5):
            self.verdict.wrong += [f"{when}: {text}" for text in self._differences()[:20]]

    def rest(self) -> None:
        """No good file is imported while nothing changes."""
        line = self.traces.end()
        time.sleep(2.5 * self.asked.interval)
        if imported := self.traces.good(line):
            self.verdict.wrong.append(f"imported although nothing had changed: {imported[:20]}")

    def count(self) -> None:
        """Nothing was imported more often than it was worth, or after too many others."""
        good, repeated = len(self.traces.good()), self.traces.repeated()
        self.verdict.figures |= {
            "edits": self.grove.edits,
            "p50_s": _quantile(self.waits, 0.5),
            "p99_s": _quantile(self.waits, 0.99),
            "before_p50": _quantile(self.before, 0.5),
            "before_max": max(self.before, default=0),
            "imports": good,
            "due": self.grove.due,
            "repeated": repeated,
        }
        if max(self.before, default=0) > _MOST_BEFORE:
            self.verdict.wrong.append(
                f"{max(self.before)} files were imported before an edited one"
            )
        if repeated > max(20, good * _REPEATED):
            self.verdict.wrong.append(f"{repeated} of {good} imports were of unchanged files")

    def _is_stored(self, wanted: Mapping[str, Place | None]) -> bool:
        stored = _places(self.conn, list(wanted))
        return all(stored.get(dag_id) == place for dag_id, place in wanted.items())

    def _look_for_errors(self) -> None:
        """Whatever hostile files do, they are the only ones that have an error."""
        for path, error in self._broken().items():
            if path not in self.grove.hostile() and Path(path).exists():
                self.verdict.wrong.append(f"after edit {self.grove.edits}: {path}: {error}")

    def _broken(self) -> dict[str, str]:
        return dict(self.conn.execute(_BROKEN).fetchall())

    def _differences(self) -> list[str]:
        places, hostile, kept = self.grove.places(), self.grove.hostile(), self.grove.kept()
        stored, broken = _places(self.conn), self._broken()
        found = [f"{d}: {stored.get(d)}, not {p}" for d, p in places.items() if stored.get(d) != p]
        found += [f"{path} has no error" for path in sorted(hostile - broken.keys())]
        found += [f"{path}: {broken[path]}" for path in sorted(broken.keys() - hostile)]
        found += [f"{dag_id} is still there" for dag_id in stored.keys() - places - kept]
        return found + [f"{dag_id} has not stayed" for dag_id in sorted(kept - stored.keys())]


def soak(asked: argparse.Namespace) -> Verdict:
    """Plant, edit, look."""
    settings = {
        "FLOW_PARSE_TIMEOUT": str(asked.timeout),
        "FLOW_PARSE_MEMORY": str(1 << 30),
        "FLOW_PARSE_INTERVAL": str(asked.interval),
    }
    with deployment(**settings) as flow, flow.connect() as conn:
        traces = Traces(flow.home.parent / "traces")
        grove = Grove(flow.folder("dags"), traces.path, random.Random(asked.seed))
        one = Soak(asked, conn, grove, traces)
        grove.plant(asked.files, asked.hostile)
        began = time.monotonic()
        processors = [
            flow.start("parse", "--dags", str(grove.folder), "--processes", "2")
            for _ in range(_PROCESSORS)
        ]
        one.settle("at first")
        one.verdict.figures["first_s"] = round(time.monotonic() - began, 1)
        before = [_idle_footprint(process, one) for process in processors]
        one.edit()
        one.settle("in the end")
        one.rest()
        one.count()
        _compare(processors, before, one)
        _end(flow, one.verdict)
    return one.verdict


def _idle_footprint(process: subprocess.Popen[bytes], soak: Soak) -> Footprint | None:
    """Of a processor that has nothing to do any more; None: it has ended, or never stops."""
    if process.poll() is not None:
        soak.verdict.wrong.append("a processor has ended")
        return None
    if not _until(lambda: is_idle(process.pid), soak.patience, pause=0.5):
        below = psutil.Process(process.pid).children(recursive=True)
        soak.verdict.wrong.append(f"below a processor {len(below)} processes go on")
        return None
    return footprint(process.pid)


def _compare(
    processors: list[subprocess.Popen[bytes]], before: list[Footprint | None], soak: Soak
) -> None:
    """Whether processors have grown."""
    found = [_idle_footprint(process, soak) for process in processors]
    for then, now in zip(before, found, strict=True):
        if then and now:
            soak.verdict.wrong += then.growth(now)
    sizes = [one.size for one in found if one]
    soak.verdict.figures["max_mb"] = max(sizes, default=0) >> 20


def _end(flow: Deployment, verdict: Verdict) -> None:
    """Processors end when they are told to, and leave nothing."""
    roots = [psutil.Process(role.pid) for role in flow.roles]
    below = [child for root in roots for child in root.children(recursive=True)]
    flow.stop(*flow.roles)
    _, alive = psutil.wait_procs(below, timeout=60)
    verdict.wrong += [f"process {process.pid} is left" for process in alive]


def _places(conn: Conn, ids: list[str] | None = None) -> dict[str, Place]:
    rows = conn.execute(_PLACES, {"ids": ids})
    return {dag_id: Place(path, token) for dag_id, path, token in rows}


def _quantile(values: list[float] | list[int], share: float) -> float | None:
    if not values:
        return None
    if share == 0.5:
        return round(median(values), 3)
    return round(sorted(values)[int(len(values) * share)], 3)


def _until(condition: Callable[[], bool], seconds: float, pause: float = 0.02) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def main(arguments: list[str] | None = None) -> int:
    """Run it and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--hostile", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=600.0, help="of random edits")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between edits, at most")
    parser.add_argument("--interval", type=float, default=30.0, help="seconds between sweeps")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds of an import")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    asked = parser.parse_args(arguments)
    verdict = soak(asked)
    for text in verdict.wrong:
        print(text, file=sys.stderr)
    print(json.dumps({**vars(asked), **verdict.figures, "wrong": len(verdict.wrong)}))
    return 1 if verdict.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
