"""The deployment under attack: three schedulers, two parsers, three workers, and their database.

All of it through the command, in processes of its own. Each role but one scheduler reaches the
database over a line that can be cut; that one is on the embedded server itself, and starts it again
when it is down.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from chaos import processes, session
from chaos.disk import LogDisk
from chaos.line import Exchange
from chaos.member import COMMAND, Member
from chaos.workload import ALL, POOL, POOL_SLOTS, Work
from waiting import limit, wait_until

HEARTBEAT: Final = 0.5
LOST_AFTER: Final = 5.0
SETTINGS: Final = {
    "dags.folders": ["dags"],
    "dags.paused_at_creation": False,
    "worker.heartbeat": HEARTBEAT,
    "worker.lost_after": LOST_AFTER,
    "worker.lease_ratio": 0.8,
    "worker.kill_grace": 1,
    "worker.slots": 4,
    "parse.interval": 1,
    "scheduler.sweep_interval": 2,
}
"""Short, and legal: what is lost is lost after ten heartbeats. Repairs are looked for often."""
_INSIDE: Final = Path(__file__).with_name("inside")
_VERB_LIMIT: Final = 180.0


class Failed(Exception):
    """A command of the deployment did not do what it had to."""


class Deployment:
    """See the module. `say` takes what happens to it; `works` are its DAGs."""

    def __init__(self, folder: Path, say: Callable[[str], None], works: Sequence[Work]) -> None:
        self.folder = folder
        self.works = works
        self.name = secrets.token_hex(8)
        self._say = say
        self.world = folder / "w"
        for path in (folder / "p" / "dags", self.world / "marks", self.world / "effects"):
            path.mkdir(parents=True)
        self.disk = LogDisk(folder / "l")
        settings = {**SETTINGS, "logs.root": str(self.disk.folder)}
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
        (folder / "p" / "flow.toml").write_text(text, encoding="utf-8")
        self._revision = 0
        self.exchange = Exchange(self._socket)
        self.members = [
            *(self._member(f"schedule {n}", lined=n < 3) for n in (1, 2, 3)),
            *(self._member(f"parse {n}") for n in (1, 2)),
            *(self._member(f"work {n}") for n in (1, 2, 3)),
        ]

    # ── roles ────────────────────────────────────────────────────────────────────────────────────

    def of(self, role: str) -> list[Member]:
        """The members of a role."""
        return [member for member in self.members if member.role == role]

    def keep(self) -> None:
        """Start what has died."""
        for member in self.members:
            member.keep()

    @property
    def server(self) -> int | None:
        """The pid of PostgreSQL."""
        return processes.postmaster(self._home)

    def is_open(self) -> bool:
        """Whether PostgreSQL lets a session begin."""
        path = self._socket()
        return path is not None and session.begins(path)

    def start_server(self) -> subprocess.Popen[bytes]:
        """Have the command start PostgreSQL, without waiting for it."""
        return subprocess.Popen(
            [*COMMAND, "db", "migrate"],
            cwd=self.folder / "p",
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    # ── commands ─────────────────────────────────────────────────────────────────────────────────

    def environment(self) -> dict[str, str]:
        """The environment of everything in it."""
        path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(_INSIDE))))
        return {
            **os.environ,
            "PYTHONPATH": path,
            "FLOW_HOME": str(self._home),
            "CHAOS_WORLD": str(self.world),
            processes.MARKER: self.name,
        }

    def ask(self, *arguments: str, codes: Collection[int] = (0,)) -> Any:
        """What a verb answers as JSON. Raises `Failed` when it exits with another code."""
        done = subprocess.run(
            [*COMMAND, *arguments, "-o", "json"],
            cwd=self.folder / "p",
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit(_VERB_LIMIT),
            check=False,
        )
        if done.returncode not in codes:
            raise Failed(f"flow {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip() else None

    # ── work ─────────────────────────────────────────────────────────────────────────────────────

    def write_dags(self, *, ended: bool = False) -> None:
        """Write every DAG file anew; with `ended` for one run and no more."""
        self._revision += 1
        for work in self.works:
            path = self.folder / "p" / "dags" / f"{work.dag_id}.py"
            new = path.with_suffix(".new")
            new.write_text(work.text(self._revision, ended=ended), encoding="utf-8")
            new.replace(path)

    def begin(self, *, ended: bool = False) -> None:
        """Start everything, and wait until work is being done; with `ended` one run of each DAG."""
        self.ask("db", "migrate")
        self.ask("pools", "set", POOL, str(POOL_SLOTS))
        self.write_dags(ended=ended)
        self.keep()
        wanted = {work.dag_id for work in self.works}

        def working() -> bool:
            self.keep()
            return wanted <= {path.name for path in (self.world / "marks").iterdir()}

        wait_until(working, "tasks of every DAG", seconds=60, pause=0.1)

    def server_log(self) -> str:
        """What PostgreSQL has logged."""
        log = self._home / "postgres" / "postgres.log"
        return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""

    def tails(self) -> list[str]:
        """The last words of every role."""
        logs = {one.name: one.text() for one in self.members} | {"PostgreSQL": self.server_log()}
        return [f"{name} logged last:\n{text[-2000:]}" for name, text in logs.items()]

    def close(self) -> None:
        """End everything, by force, and remove what it had."""
        for member in self.members:
            member.kept = False
            member.send(signal.SIGKILL)
        self.exchange.close()
        wait_until(lambda: not self._kill_rest(), "the end of all that was killed")
        subprocess.run(
            [*COMMAND, "down"], cwd=self.folder / "p", env=self.environment(),
            capture_output=True, check=False, timeout=limit(_VERB_LIMIT),
        )  # fmt: skip
        self.disk.close()
        shutil.rmtree(self.folder)

    def _kill_rest(self) -> list[int]:
        for member in self.members:
            if member.process is not None:
                member.process.poll()
        left = [pid for pid in processes.marked(self.name) if pid != os.getpid()]
        for pid in left:
            processes.send(pid, signal.SIGKILL)
        return left

    @property
    def _home(self) -> Path:
        return self.folder / "h"

    def _socket(self) -> Path | None:
        """PostgreSQL's socket, as its own pid file names it; None while there is no server."""
        for file in self._home.glob("*/data/postmaster.pid"):
            lines = file.read_text(encoding="utf-8").splitlines()
            if len(lines) > 4 and lines[4]:
                return Path(lines[4]) / f".s.PGSQL.{lines[3]}"
        return None

    def _member(self, name: str, *, lined: bool = True) -> Member:
        role, _, _ = name.partition(" ")
        line = self.exchange.line() if lined else None
        return Member(name, (role,), self.folder, self.environment, self._say, line)


@contextmanager
def deployed(say: Callable[[str], None], works: Sequence[Work] = ALL) -> Iterator[Deployment]:
    """A deployment; nothing runs yet. Ends everything in it, whatever happened."""
    # Short, for the name of the database's socket, and open, for the server's own account.
    folder = Path(tempfile.mkdtemp(prefix="fx-", dir="/tmp"))
    folder.chmod(0o755)
    deployment = Deployment(folder, say, works)
    try:
        yield deployment
    finally:
        deployment.close()
