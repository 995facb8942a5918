"""`flow tui` as a process with a terminal of its own, of which a test holds the other end."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from waiting import wait_until


class Shown:
    """The process, and what it has written to its terminal."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int, name: str) -> None:
        self.process = process
        self.terminal = terminal
        self._name = name
        self.output = b""

    def press(self, keys: bytes) -> None:
        """Press keys, given as what a terminal sends for them."""
        os.write(self.terminal, keys)

    def shows(self, text: bytes) -> bool:
        """Take in what has come; whether it has the text."""
        try:
            self.output += os.read(self.terminal, 1 << 16)
        except BlockingIOError:
            pass
        except OSError:  # Linux says EIO when the other end is closed
            pass
        return text in self.output

    def stand_still(self) -> None:
        """Take no more output, as after ctrl+s."""
        theirs = os.open(self._name, os.O_RDWR | os.O_NOCTTY)
        termios.tcflow(theirs, termios.TCOOFF)
        os.close(theirs)

    def hang_up(self) -> None:
        """Be gone."""
        if self.terminal >= 0:
            os.close(self.terminal)
            self.terminal = -1

    def end(self) -> int:
        """The exit code, once all is read."""
        wait_until(lambda: self.shows(b"") and self.process.poll() is not None, "its end")
        read = -1
        while read != len(self.output):
            read = len(self.output)
            self.shows(b"")
        return self.process.returncode


@contextmanager
def shown(url: str, home: Path, *words: str, **variables: str) -> Iterator[Shown]:
    """`flow tui` on a database, with a home and further words and variables."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    environment = {
        **os.environ,
        "FLOW_HOME": str(home),
        "FLOW_DATABASE_URL": url,
        "XDG_STATE_HOME": str(home / "state"),
        "TERM": "xterm-256color",
        **variables,
    }
    with subprocess.Popen(
        [sys.executable, "-m", "flow_cli", "tui", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        cwd=home,
        start_new_session=True,
    ) as process:
        made = Shown(process, ours, os.ttyname(theirs))
        os.close(theirs)
        try:
            yield made
        finally:
            process.kill()
            made.hang_up()
