"""The terminal UI on a terminal of its own: signals, and terminals that cannot draw."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from operations_world import World
from postgres import url_of
from waiting import limit, wait_until

LEFT = b"\x1b[?1049l"
"""What makes a terminal show again what it did before."""


class Shown:
    """The process, and what it has written to its terminal."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process = process
        self.terminal = terminal
        self.output = b""

    def shows(self, text: bytes) -> bool:
        """Take in what has come; whether it has the text."""
        try:
            self.output += os.read(self.terminal, 1 << 16)
        except BlockingIOError:
            pass
        except OSError:  # Linux says EIO when the other side is closed
            pass
        return text in self.output

    def end(self) -> int:
        """The exit code, once all is read."""
        wait_until(lambda: self.shows(b"") and self.process.poll() is not None, "its end")
        read = -1
        while read != len(self.output):
            read = len(self.output)
            self.shows(b"")
        return self.process.returncode


@contextmanager
def shown(database: str, home: Path, **variables: str) -> Iterator[Shown]:
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    environment = {
        **os.environ,
        "FLOW_HOME": str(home),
        "FLOW_DATABASE_URL": url_of(database),
        "XDG_STATE_HOME": str(home / "state"),
        "TERM": "xterm-256color",
        **variables,
    }
    with subprocess.Popen(
        [sys.executable, "-m", "flow_cli", "tui"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        cwd=home,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        try:
            yield Shown(process, ours)
        finally:
            process.kill()
            os.close(ours)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(
    world: World, database: str, tmp_path: Path, number: signal.Signals
) -> None:
    with shown(database, tmp_path) as one:
        wait_until(lambda: one.shows(b"keys"), "the footer")
        one.process.send_signal(number)
        assert one.end() == 128 + number
        assert LEFT in one.output
        assert b"Traceback" not in one.output


def test_its_key_suspends_it_and_leaves_the_terminal_as_it_was(
    world: World, database: str, tmp_path: Path
) -> None:
    with shown(database, tmp_path) as one:
        wait_until(lambda: one.shows(b"keys"), "the footer")
        os.write(one.terminal, b"\x1a")
        state = Path(f"/proc/{one.process.pid}/stat")
        wait_until(
            lambda: one.shows(LEFT) and state.read_text().rpartition(")")[2].split()[0] == "T",
            "a stopped process, its terminal as it was",
        )


def test_a_terminal_that_cannot_draw_is_refused(tmp_path: Path, database: str) -> None:
    with shown(database, tmp_path, TERM="dumb") as one:
        assert one.process.wait(limit(30)) == 2
        wait_until(lambda: one.shows(b"a terminal that can draw"), "why")
        assert b"\x1b[" not in one.output
