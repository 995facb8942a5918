"""Telling whether a process is the server of some data, by what /proc says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.embedded import pidfile

DATA = Path("/var/lib/flow/postgres/data")
PID = 4711


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pidfile, "_PROCESSES", tmp_path)
    return tmp_path


def add(processes: Path, arguments: bytes, state: str) -> None:
    process = processes / str(PID)
    process.mkdir()
    (process / "cmdline").write_bytes(arguments)
    (process / "stat").write_text(f"{PID} (a) name) {state} 1 {PID} {PID} 0")


@pytest.mark.parametrize(
    ("arguments", "state", "alive", "coming"),
    [
        (b"/opt/bin/postgres\0-D\0/var/lib/flow/postgres/data\0", "S", True, True),
        (b"/opt/bin/postgres\0-D\0/srv/other\0", "S", False, False),
        (b"", "R", False, True),  # its program is being loaded
        (b"", "Z", False, False),  # dead, and nobody has collected it
    ],
    ids=["ours", "another's", "in execve", "zombie"],
)
def test_a_process_is_known_by_its_arguments(processes, arguments, state, alive, coming):
    add(processes, arguments, state)
    assert pidfile.is_alive(PID, DATA) is alive
    assert pidfile.is_coming(PID, DATA) is coming


def test_a_process_that_is_gone_is_neither(processes):
    assert not pidfile.is_alive(PID, DATA)
    assert not pidfile.is_coming(PID, DATA)
