"""Command lines as somebody types them: in a shell, on a terminal, with answers to questions."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waiting import limit

QUESTION: Final = "[y/N] "
YES: Final = (QUESTION, "y\n")
CTRL_C: Final = "\x03"
CTRL_D: Final = "\x04"
_LIMIT: Final = 120.0


@dataclass(frozen=True)
class Typed:
    """What a command line has shown, and the exit code."""

    code: int
    shown: str


def type_in(
    line: str,
    folder: Path,
    environment: Mapping[str, str],
    answers: Sequence[tuple[str, str]] = (YES,),
    within: Sequence[str] = (),
) -> Typed:
    """Run a command line on a terminal of its own, to its end.

    Each of `answers` is what has to be seen, "" for nothing, and what is then typed; those to
    questions that are not asked stay untyped. `within` is a command in which the shell is started.
    """
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (60, 120))  # without a size everything would be too long for it
    with subprocess.Popen(
        # A session whose terminal this is, so that Ctrl-C reaches what runs in it.
        ["setsid", "--ctty", *within, "bash", "-c", line],
        cwd=folder,
        env={**environment, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        try:
            shown = _talk(ours, list(answers), line)
            return Typed(process.wait(limit(_LIMIT)), shown)
        finally:
            process.kill()
            os.close(ours)


def _talk(terminal: int, answers: list[tuple[str, str]], line: str) -> str:
    """Read until nobody has the other side open, and type each answer where it is asked for."""
    shown, seen, part = "", 0, b" "
    deadline = time.monotonic() + limit(_LIMIT)
    while part:
        while answers and (at := shown.find(answers[0][0], seen)) >= 0:
            seen = at + len(answers[0][0])
            os.write(terminal, answers.pop(0)[1].encode())
        assert time.monotonic() < deadline, f"{line} does not end:\n{shown}"
        part = _read(terminal, deadline)
        shown += part.decode(errors="replace")
    return shown.replace("\r\n", "\n")


def _read(terminal: int, deadline: float) -> bytes:
    """What comes next; nothing at the end."""
    left = max(0.0, deadline - time.monotonic())
    if not select.select([terminal], [], [], left)[0]:
        return b" "  # nothing came in time; the caller looks at the clock
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says EIO when the other side of a terminal is closed
        return b""
