"""`flow test --pdb`: a debugger in the process of a task that has failed, on a real terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.rehearsed import Run, Write
from waiting import limit

HANG = limit(60)
FAILING = """
@task(retries=1, retry_delay=0, execution_timeout=timedelta(seconds=0.01))
def fails(ti=None):
    answer = 40 + ti.try_number
    print("about to fail")
    raise ValueError("not yet") if ti.try_number == 1 else SystemExit(3)
fails()
"""


class Terminal:
    """The side of a terminal at which somebody sits."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.shown = ""

    def read_until(self, text: str) -> None:
        """Wait until `text` is shown, after what was read before."""
        seen = ""
        deadline = time.monotonic() + HANG
        while text not in seen:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self._descriptor], [], [], max(0.0, left))
            assert ready, f"{text!r} was not shown; this was: {self.shown}"
            part = os.read(self._descriptor, 4096).decode()
            seen += part
            self.shown += part

    def type(self, line: str) -> None:
        os.write(self._descriptor, f"{line}\n".encode())


@contextmanager
def debugging(
    environment: dict[str, str], project: Path, *arguments: str
) -> Iterator[tuple[Terminal, subprocess.Popen[bytes]]]:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "flow_cli", "test", "d.py", "--pdb", *arguments],
        cwd=project,
        env=environment,
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        yield Terminal(ours), process
    os.close(ours)


def test_the_debugger_opens_where_the_error_was_raised(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    """What the task has said stands before the prompt; each failed try has one."""
    write(FAILING)
    with debugging(environment, project, "--jobs", "4") as (terminal, process):
        terminal.read_until("(Pdb) ")
        assert terminal.shown.index("about to fail") < terminal.shown.index("(Pdb) ")
        terminal.type("p answer + 1000")
        terminal.read_until("1041")
        terminal.type("q")
        terminal.read_until("try 1 failed: ValueError: not yet")
        terminal.read_until("(Pdb) ")
        terminal.type("p answer + 1000")
        terminal.read_until("1042")
        terminal.type("q")
        terminal.read_until("fails is failed: exit code 3")
        assert process.wait(HANG) == 1


def test_ctrl_c_ends_what_is_being_debugged(
    write: Write, environment: dict[str, str], project: Path
) -> None:
    write(FAILING)
    with debugging(environment, project) as (terminal, process):
        terminal.read_until("(Pdb) ")
        terminal.type("import os; print('pid', os.getpid(), 'here')")
        terminal.read_until(" here\r\n")
        pid = terminal.shown.rpartition("pid ")[2].split()[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG) == 130
    assert not os.path.exists(f"/proc/{pid}")


def test_without_a_terminal_it_is_refused(write: Write, flow: Run) -> None:
    write(FAILING)
    refused = flow("test", "d.py", "--pdb")
    assert refused.code == 2
    assert "--pdb needs a terminal to talk on" in refused.err
    assert "about to fail" not in refused.err
