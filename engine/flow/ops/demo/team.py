"""`flow up` as a child process: its start, the death of one of its workers, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from flow.embedded import Server
from flow.errors import FlowError
from flow.ops.demo.project import Project
from flow.process import prctl, tree
from flow.roles.up import FOLLOWS
from flow.store import locate

WORKERS: Final = 2
SLOTS: Final = 4
_DRAIN: Final = 10.0
"""Seconds that `flow up` gets to end by itself, when nothing runs any more."""
_SECOND_ASK: Final = 1.0
"""Seconds before the second SIGTERM when something may run: one that comes at once may merge."""
_LAST_LINES: Final = 15


class Team:
    """All roles of the demo, under their one supervisor."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, server: Server) -> None:
        self._process = process
        self._server = server
        self.log = log
        self.drained = False
        """Whether nothing runs any more, so that ending takes no second SIGTERM."""

    def require_alive(self) -> None:
        """Raise `FlowError` with the end of its log when `flow up` has ended by itself."""
        code = self._process.poll()
        if code is not None:
            raise FlowError(f"flow up ended (exit code {code})\n{self.last_lines()}")

    def kill_worker(self, pid: int) -> None:
        """SIGKILL the supervisor of one worker. Raises `FlowError` when it is none of ours."""
        pinned = os.pidfd_open(pid)
        try:
            # Looked at after it is pinned: the number cannot be somebody else's by now.
            if tree.parent(pid) != self._process.pid:
                raise FlowError(f"process {pid} is no worker of this demo")
            signal.pidfd_send_signal(pinned, signal.SIGKILL)
        finally:
            os.close(pinned)

    def last_lines(self) -> str:
        """The end of what the roles have logged."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-_LAST_LINES:])

    def end(self) -> None:
        """End `flow up`, and whatever of it should then be left; returns when all are dead."""
        for patience in (_DRAIN if self.drained else _SECOND_ASK, _DRAIN):
            if self._process.poll() is None:
                self._process.terminate()
                try:
                    self._process.wait(patience)
                except subprocess.TimeoutExpired:
                    continue
        # Orphans have become children of this process, which is a subreaper; so has the database,
        # if a role had to start it again, but that one is ended in its own way.
        while left := set(tree.children(os.getpid())) - self._server.pids:
            for pid in left:
                tree.kill(pid)
                os.waitpid(pid, 0)


@contextmanager
def started(project: Project) -> Iterator[Team]:
    """Start `flow up` as on any machine. At the end nothing is left of it."""
    prctl.become_subreaper()
    log = project.config.settings.logs.root / "flow-up.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "flow_cli", "--config", str(project.settings_file)),
                *("up", "--workers", str(WORKERS), "--slots", str(SLOTS)),
            ],
            cwd=project.folder,
            # Should this process be killed, all roles drain.
            env={**project.environment, FOLLOWS: str(os.getpid())},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    team = Team(process, log, locate.embedded(project.config.settings))
    try:
        yield team
    finally:
        team.end()
