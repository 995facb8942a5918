"""Running `flow` as its users do: as a process of its own, in a pipe or on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import forked_command
from support.rehearsed import rehearse, write  # noqa: F401 - fixtures
from waiting import limit

HANG = limit(60)
COMMAND = [sys.executable, "-m", "flow_cli"]


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment without anything of Flow's, and with a home of the test's own."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FLOW_", "XDG_", "PG"))
        and name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS")
    }
    home = tmp_path / "home"
    home.mkdir()
    return {**kept, "HOME": str(home), "FLOW_HOME": str(home / "state"), "TERM": "xterm"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty folder in which commands run."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def flow(environment: dict[str, str], project: Path) -> Run:
    """Run `flow` with its output in pipes; keyword arguments are environment variables."""

    def run(*arguments: str, **variables: str) -> Ended:
        ended = forked_command.run(
            arguments, cwd=project, env={**environment, **variables}, seconds=HANG
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run


@pytest.fixture
def on_terminal(environment: dict[str, str], project: Path) -> Run:
    """Run `flow` with its standard output on a terminal of `columns` columns."""

    def run(*arguments: str, columns: int = 80, **variables: str) -> Ended:
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=project,
            env={**environment, "COLUMNS": str(columns), **variables},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
        ) as process:
            os.close(theirs)
            shown = _read_to_end(ours)
            assert process.stderr is not None
            told = process.stderr.read()
        os.close(ours)
        return Ended(process.returncode, shown.decode().replace("\r\n", "\n"), told.decode())

    return run


def _read_to_end(descriptor: int) -> bytes:
    read = b""
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # Linux says EIO when the other side of a terminal is closed
            return read
        if not part:
            return read
        read += part
