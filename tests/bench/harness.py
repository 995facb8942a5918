"""What the benches share: a deployment of their own, roles as real processes, floors, results.

Every bench has its own embedded server at production settings in a scratch FLOW_HOME and starts
Flow's roles as anybody would, by the `flow` command. Floors run in the same run against the same
server. Each comparison is one JSON line on stdout; the last one counts.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

import flow
import flow_cli
from flow.embedded import Server
from flow.store import migrate
from flow.store.connect import Conn, connect

FLOORS: Final = Path(__file__).parent / "floors"
BENCHES: Final = (
    *("hop", "throughput", "backfill", "clear", "burst", "big_run", "fair", "cold_start", "idle"),
    *("specs", "parse", "schedulers", "history", "steady", "contention", "slots", "load"),
    *("verbs", "tui"),
)
"""Each is a script of that name beside this one."""
TOLERANCE: Final = 3.0
"""A bench fails where the ratio misses its aim by this factor: less is noise of a busy machine."""
PATIENCE: Final = 60.0 * float(os.environ.get("FLOW_TEST_PATIENCE", "1"))
"""Seconds after which a bench gives up waiting; nothing waits for it in a good case."""

_SOURCES: Final = tuple(Path(next(iter(package.__path__))) for package in (flow, flow_cli))


@dataclass(frozen=True, slots=True)
class Aim:
    """Where a ratio of value to floor has to be."""

    ratio: float
    at_least: bool = False
    """Rates are to be at least so much of their floor; times and sizes at most."""
    guard: float | None = None
    """The ratio at which CI fails where three times the aim was never reached: it then guards what
    there is, and the table goes on to show the miss."""

    def tolerated(self, ratio: float) -> bool:
        """Whether CI lets `ratio` pass."""
        if self.guard is None:
            return self.met(ratio, TOLERANCE)
        return ratio >= self.guard if self.at_least else ratio <= self.guard

    def met(self, ratio: float, tolerance: float = 1.0) -> bool:
        """Whether `ratio` reaches the aim, give or take a factor."""
        if self.at_least:
            return ratio >= self.ratio / tolerance
        return ratio <= self.ratio * tolerance


@dataclass(slots=True)
class Results:
    """The lines that one bench prints, and whether it missed an aim beyond all tolerance."""

    bench: str
    failed: bool = False

    def line(
        self, value: float, unit: str, floor: float | None, aim: Aim | None = None, **more: object
    ) -> None:
        """Print one comparison. Without an aim it is for information only."""
        ratio = value / floor if floor else None
        found = {
            "bench": self.bench,
            "value": _round(value),
            "unit": unit,
            "floor": _round(floor),
            "ratio": _round(ratio),
            "aim": aim.ratio if aim else None,
        }
        if aim is not None and ratio is not None:
            found |= {"at_least": aim.at_least, "met": aim.met(ratio)}
            self.failed = self.failed or not aim.tolerated(ratio)
        print(json.dumps(found | more), flush=True)


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def main(bench: str, measure: Callable[[Results, bool], None]) -> None:
    """The command line of a bench: `measure(results, reduced)`, exit code 1 for a missed aim."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--reduced", action="store_true", help="a small size, for every change")
    results = Results(bench)
    measure(results, parser.parse_args().reduced)
    sys.exit(1 if results.failed else 0)


# ── a deployment ─────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Deployment:
    """A scratch FLOW_HOME with its server, and the processes started in it."""

    home: Path
    server: Server
    dsn: str
    environment: dict[str, str]
    roles: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def connect(self) -> Conn:
        """A connection of the bench's own."""
        return connect(self.dsn, name="bench", patience=3600.0)

    def folder(self, name: str) -> Path:
        """A folder of the bench's own, made when missing."""
        path = self.home.parent / name
        path.mkdir(exist_ok=True)
        return path

    def add_path(self, folder: Path) -> None:
        """Let processes started from now on import what is in `folder`."""
        self.environment["PYTHONPATH"] += f"{os.pathsep}{folder}"

    def flow(self, *arguments: str) -> None:
        """Run a `flow` command to its end."""
        done = subprocess.run([*FLOW, *arguments], env=self.environment, capture_output=True)
        if done.returncode:
            sys.stderr.buffer.write(done.stderr)
            raise RuntimeError(f"flow {' '.join(arguments)} ended with {done.returncode}")

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a role; it ends with the deployment at the latest."""
        log = (self.home / "roles.log").open("ab")
        with log:
            process = subprocess.Popen(
                [*FLOW, *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.roles.append(process)
        return process

    def stop(self, *processes: subprocess.Popen[bytes]) -> None:
        """Let roles drain and wait for their ends."""
        for process in processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in processes:
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()
            self.roles.remove(process)

    def await_roles(self, conn: Conn, *roles: str) -> None:
        """Wait until these roles have rows of their own, which is when they are at work."""
        wanted = Counter(roles)
        wait_for(
            lambda: Counter(row[0] for row in conn.execute(_ALIVE)) >= wanted,
            f"{roles} to be there",
        )

    def floor(self, name: str, *arguments: object, server: bool = True) -> dict[str, Any]:
        """Run a floor script; what it prints."""
        script = [sys.executable, str(FLOORS / f"floor_{name}.py")]
        where = [self.dsn] if server else []
        return run_floor([*script, *where, *map(str, arguments)], self.environment)


FLOW: Final = (sys.executable, "-m", "flow_cli")
_ALIVE: Final = "select role from process where ended_at is null"


def run_floor(command: Sequence[str], environment: dict[str, str]) -> dict[str, Any]:
    """Run one floor; the object that it prints."""
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextmanager
def deployment(**settings: str) -> Iterator[Deployment]:
    """A deployment at production settings; `settings` are variables of its environment."""
    precompile()
    # Short, because the path of a socket may have 107 bytes; open to the server's own user.
    scratch = Path(tempfile.mkdtemp(prefix="fb-", dir="/tmp"))
    scratch.chmod(0o755)
    home = scratch / "h"
    server = Server(home)
    try:
        dsn = server.start()
        migrate.migrate(dsn)
        made = Deployment(home, server, dsn, environment(FLOW_HOME=str(home), **settings))
        try:
            yield made
        except BaseException:
            _show_log(home / "roles.log")
            raise
        finally:
            made.stop(*made.roles)
    finally:
        if server.data.exists():
            server.stop()
        shutil.rmtree(scratch)


def environment(**settings: str) -> dict[str, str]:
    """What processes of a bench see: this process's environment without settings of Flow.

    Modules may be written compiled, since compiling is not what is measured.
    """
    mine = {k: v for k, v in os.environ.items() if not k.startswith(("FLOW_", "PG"))}
    mine.pop("PYTHONDONTWRITEBYTECODE", None)
    places = [str(source.parent) for source in _SOURCES]
    places += [place for place in mine.get("PYTHONPATH", "").split(os.pathsep) if place]
    return mine | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(places)), **settings}


def precompile() -> None:
    """Write every module compiled, as an installation does."""
    for source in _SOURCES:
        compileall.compile_dir(str(source), quiet=2)


def _show_log(path: Path) -> None:
    if path.exists():
        sys.stderr.write(path.read_text()[-8_000:])


# ── waiting and counting ─────────────────────────────────────────────────────────────────────────


def wait_for(condition: Callable[[], bool], what: str, every: float = 0.1) -> None:
    """Look every so many seconds until `condition` holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE:g} s for {what}")
        time.sleep(every)


def one(conn: Conn, statement: str, values: dict[str, object] | None = None) -> Any:
    """The first column of the first row."""
    row = conn.execute(statement, values).fetchone()  # type: ignore[call-overload]
    return row[0] if row else None


def p99(values: Sequence[float]) -> float:
    """The value that one in a hundred exceeds."""
    return sorted(values)[int(len(values) * 0.99)]


def medians(measured: Sequence[dict[str, Any]], key: str) -> float:
    """The median of one figure over several runs of a floor."""
    return float(median(found[key] for found in measured))


__all__ = [
    "Aim",
    "Conn",
    "Deployment",
    "Results",
    "deployment",
    "main",
    "medians",
    "one",
    "p99",
    "run_floor",
    "wait_for",
]
