"""A live deployment for one case: a project, an embedded database, roles, and the real command.

Everything goes through `flow` as a process of its own. Times are guards against hanging.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg

import prepared_home
import services
from cases import marker_file
from cases.marker_file import Mark
from flow.embedded import Server
from flow.errors import DatabaseError
from flow.store.connect import connect
from leaks import has_variable
from support import forked_command
from waiting import limit, wait_until

COMMAND: Final = [sys.executable, "-m", "flow_cli"]
INSIDE: Final = Path(__file__).with_name("inside")
MARKER: Final = "CASE_DEPLOYMENT"
"""Variable that every process of a deployment inherits, whatever becomes of it."""
OVER: Final = frozenset({"success", "failed"})
_POLL: Final = 0.1
"""Seconds between two looks at what the database says."""
_VERB_LIMIT: Final = 120.0
_REGISTERED: Final = """
select count(distinct role) = %s from process where role = any(%s) and ended_at is null
"""
_STORED: Final = "select count(*) = %s from dag where dag_id = any(%s) and present"
_PARSED: Final = "select count(*) = %s from dag_file where path = any(%s)"
_ENDED: Final = "select state = any(%s) from run where dag_id = %s and run_id = %s"


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


@dataclass
class Role:
    """A long-lived `flow` process that a case has started."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the role's own process only."""
        self.process.send_signal(number)

    def wait(self, seconds: float = 60.0) -> int:
        """Wait for its end; the exit code, negative for a signal."""
        return self.process.wait(limit(seconds))

    def end(self) -> int:
        """Let it drain and wait for its end."""
        self.send(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        """SIGKILL, and wait until it is dead."""
        self.send(signal.SIGKILL)
        self.wait()

    def text(self) -> str:
        """What it has logged."""
        return self.log.read_text(encoding="utf-8", errors="replace")


@dataclass
class Deployment:
    """A project folder with its own home; see `deployed`."""

    folder: Path
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    roles: list[Role] = field(default_factory=list)

    @property
    def home(self) -> Path:
        """FLOW_HOME."""
        return self.folder / "h"

    @property
    def project(self) -> Path:
        """The folder of flow.toml, in which all commands run."""
        return self.folder / "p"

    @property
    def dags(self) -> Path:
        """The folder of DAG files."""
        return self.project / "dags"

    @property
    def embedded(self) -> Server:
        """The database server."""
        return Server(self.home)

    # ── commands ─────────────────────────────────────────────────────────────────────────────────

    def environment(self, **variables: str) -> dict[str, str]:
        """The environment of every command of this deployment."""
        path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(INSIDE))))
        return {
            **os.environ,
            "PYTHONPATH": path,
            "FLOW_HOME": str(self.home),
            "CASE_MARKS": str(self.folder / "m"),
            MARKER: self.name,
            **variables,
        }

    def flow(self, *arguments: str, anew: bool = False, **variables: str) -> Ended:
        """Run `flow` with its output in pipes; upper-case arguments are environment variables.

        It is forked from a process that has imported it, or an interpreter is started `anew`.
        """
        run = forked_command.start if anew else forked_command.run
        done = run(
            arguments,
            cwd=self.project,
            env=self.environment(**variables),
            seconds=limit(_VERB_LIMIT),
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def together(
        self,
        commands: Sequence[Sequence[str]],
        width: int | None = None,
        *,
        anew: bool = False,
        **variables: str,
    ) -> list[Ended]:
        """Run several `flow` at once, or `width` of them at a time; what each left behind."""

        def run(words: Sequence[str]) -> Ended:
            return self.flow(*words, anew=anew, **variables)

        with ThreadPoolExecutor(width or len(commands)) as threads:
            return list(threads.map(run, commands))

    def ask(self, *arguments: str, codes: Collection[int] = (0,)) -> Any:
        """What a verb answers as JSON. Fails the test when it exits with another code."""
        cut = arguments.index("--") if "--" in arguments else len(arguments)
        done = self.flow(*arguments[:cut], "-o", "json", *arguments[cut:])
        assert done.code in codes, f"flow {' '.join(arguments)}: exit {done.code}\n{done.err}"
        return json.loads(done.out)

    def start(self, *arguments: str, **variables: str) -> Role:
        """Start a role (`work --slots 2`); its log is a file of its own."""
        log = self.folder / f"{len(self.roles)}-{arguments[0]}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*COMMAND, *arguments],
                cwd=self.project,
                env=self.environment(**variables),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        role = Role(arguments[0], process, log)
        self.roles.append(role)
        return role

    def up(self, *arguments: str, **variables: str) -> Role:
        """Start `flow up` and wait until parser, scheduler and worker are there."""
        role = self.start("up", *arguments, **variables)
        self.wait_for_roles("parse", "schedule", "work", watched=role)
        return role

    def wait_for_roles(self, *names: str, watched: Role | None = None) -> None:
        """Wait until each of these roles is registered and healthy.

        A `watched` role is to be there itself: rows of killed predecessors look healthy until
        somebody has missed their heartbeats.
        """

        def there() -> bool:
            if watched is not None and watched.process.poll() is not None:
                raise AssertionError(f"flow {watched.name} has ended:\n{watched.text()}")
            if not self._holds(_REGISTERED, len(set(names)), list(names)):
                return False
            # Exit 1 says that something is wrong, 5 that there is no database yet.
            done = self.flow("status", "-o", "json")
            if done.code not in (0, 1):
                return False
            healthy = [one for one in json.loads(done.out)["roles"] if one["healthy"]]
            if watched is not None and watched.name in names:
                healthy = [one for one in healthy if one["pid"] == watched.process.pid]
            return set(names) <= {one["role"] for one in healthy}

        wait_until(there, f"the roles {', '.join(names)}", seconds=60, pause=_POLL)

    # ── DAGs and runs ────────────────────────────────────────────────────────────────────────────

    def write(self, name: str, text: str) -> Path:
        """Write a DAG file, whole or not at all."""
        path = self.dags / name
        half_written = self.folder / "half-written"
        half_written.write_text(textwrap.dedent(text), encoding="utf-8")
        return half_written.replace(path)

    def parse(self) -> None:
        """Look at every DAG file once."""
        done = self.flow("parse", "--once")
        assert done.code == 0, done.err

    def wait_for_dags(self, *dag_ids: str) -> None:
        """Wait until the parser has stored these DAGs."""

        def there() -> bool:
            if not self._holds(_STORED, len(set(dag_ids)), list(dag_ids)):
                return False
            return set(dag_ids) <= {dag["dag_id"] for dag in self.ask("dags", "list", "--all")}

        wait_until(there, f"the DAGs {', '.join(dag_ids)}", pause=_POLL)

    def wait_for_files(self, *names: str) -> None:
        """Wait until the parser has stored what it found in these new DAG files, without `.py`."""
        paths = [str(self.dags / f"{name}.py") for name in names]
        wait_until(
            lambda: self._holds(_PARSED, len(set(paths)), paths),
            f"the files {', '.join(names)}",
            seconds=120,
            pause=_POLL,
        )

    def run(self, dag_id: str, *options: str) -> str:
        """Start a run; its id."""
        return str(self.ask("run", *options, "--", dag_id)["run_id"])

    def run_to_end(self, dag_id: str, *options: str) -> dict[str, Any]:
        """Start a run and wait for its end; the run."""
        found: dict[str, Any] = self.ask("run", "--wait", *options, "--", dag_id, codes=(0, 1))
        return found

    def wait_for_run(self, dag_id: str, run_id: str, *, seconds: float = 60.0) -> dict[str, Any]:
        """Wait for the end of a run; the run."""

        def over() -> dict[str, Any] | None:
            if not self._holds(_ENDED, list(OVER), dag_id, run_id):
                return None
            found: dict[str, Any] = self.ask("runs", "show", "--", dag_id, run_id)
            return found if found["state"] in OVER else None

        return wait_until(over, f"the end of {dag_id} {run_id}", seconds=seconds, pause=_POLL)

    def states(self, dag_id: str, run_id: str) -> dict[str, str]:
        """The state of each task of a run."""
        tasks = self.ask("tasks", "list", "--", dag_id, run_id)
        return {task["task_id"]: task["state"] for task in tasks}

    def tries(self, dag_id: str, run_id: str, task_id: str) -> list[dict[str, Any]]:
        """The tries of a task, the first one first."""
        found: list[dict[str, Any]] = self.ask("tasks", "tries", "--", dag_id, run_id, task_id)
        return sorted(found, key=lambda one: one["try_number"])

    def marks(self, name: str = "marks") -> list[Mark]:
        """What tasks have written into a marker file."""
        return marker_file.read(self.folder / "m" / name)

    def processes(self) -> list[int]:
        """Everything of this deployment that lives, but the database server."""
        numbers = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
        return [pid for pid in numbers if has_variable(pid, MARKER, self.name)]

    def _holds(self, question: str, *values: object) -> bool:
        """What the database says: when it is time to ask the command, which takes a processor
        longer. What counts is the command's answer."""
        dsn = os.environ.get("FLOW_DATABASE_URL") or self.embedded.dsn
        try:
            with connect(dsn, name="case") as conn:
                row = conn.execute(question, values).fetchone()
        except (DatabaseError, psycopg.Error):
            return False  # there is none yet, or none for now
        return row is not None and bool(row[0])

    def kill_all(self) -> list[int]:
        """SIGKILL for everything that lives, but the database server; who that was."""
        alive = self.processes()
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it ended in this moment
        return alive

    # ── the end ──────────────────────────────────────────────────────────────────────────────────

    def tear_down(self) -> None:
        """End everything, by force, and remove the folder."""
        for role in self.roles:
            if role.process.poll() is None:
                role.kill()
        wait_until(lambda: not self.kill_all(), "the end of the killed processes")
        if self.embedded.data.exists():
            services.note(services.postgres_of(self.embedded.data))
        self.embedded.stop()
        elsewhere = self.embedded.socket_directory
        shutil.rmtree(self.folder)
        if self.folder not in elsewhere.parents:
            shutil.rmtree(elsewhere, ignore_errors=True)


@contextmanager
def deployed(
    settings: Mapping[str, object] | None = None, *, prepared: bool = True
) -> Iterator[Deployment]:
    """A deployment with `settings` in its flow.toml ({"worker.heartbeat": 0.5}); nothing runs yet.

    Its home is `prepared` with a migrated database, or does not exist. Ends everything in it,
    whatever happened.
    """
    # Short, for the name of the database's socket, and open, for the server's own account.
    folder = Path(tempfile.mkdtemp(prefix="fc-", dir="/tmp"))
    folder.chmod(0o755)
    deployment = Deployment(folder)
    try:
        deployment.dags.mkdir(parents=True)
        (folder / "m").mkdir()
        if prepared:
            prepared_home.copy_to(deployment.home)
        given = {"dags.folders": ["dags"], "dags.paused_at_creation": False, **(settings or {})}
        (deployment.project / "flow.toml").write_text(_toml(given), encoding="utf-8")
        yield deployment
    finally:
        deployment.tear_down()


def _toml(settings: Mapping[str, object]) -> str:
    # Plain JSON values are written alike in TOML, and its dotted keys need no sections.
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
