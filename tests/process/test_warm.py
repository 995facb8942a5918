"""Warming up: the sample runs to its end, and nothing of it is left in the process."""

from __future__ import annotations

import gc
import logging
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from flow.authoring import collect, runtime, scope
from flow.errors import UsageError
from flow.process import finish, warm
from waiting import limit

ALONE = """
import _imp, gc, os, random, threading
from flow.process import warm

seen = []
os.register_at_fork(
    before=lambda: seen.append(("before", _imp.lock_held(), gc.isenabled())),
    after_in_child=lambda: seen.append(("after", _imp.lock_held(), gc.isenabled())),
)
state = random.getstate()
for _ in range(3):
    warm._be_forked()
assert seen == [("before", False, False), ("after", False, False)] * 3, seen
assert random.getstate() != state, "a child has random numbers of its own"
assert gc.isenabled()
assert threading.current_thread() is threading.main_thread()
lives = threading.Thread(target=seen.clear)
lives.start()
lives.join()
pid = os.fork()
if pid == 0:
    os._exit(len(seen) == 2)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
"""
WITH_A_THREAD = """
import os, threading
from flow.process import warm

reader, writer = os.pipe()
waiting = threading.Thread(target=os.read, args=(reader, 1))
waiting.start()
warm._be_forked()
assert waiting.is_alive()
os.write(writer, b"0")
waiting.join()
"""


@pytest.fixture(autouse=True)
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A last word buries dead children, and a fork is told to whoever asked for that: in this
    process these are other tests'.
    """
    monkeypatch.setattr(finish, "_alone", lambda: True)
    monkeypatch.setattr(warm, "_be_forked", lambda: None)


def traces() -> tuple[object, ...]:
    root = logging.getLogger()
    modules = {name for name in sys.modules if name.startswith("dag_file_")}
    signals = signal.getsignal(signal.SIGTERM), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return (
        dict(os.environ),
        list(sys.path),
        modules,
        root.level,
        list(root.handlers),
        signals,
        gc.isenabled(),
    )


def test_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = traces()
    descriptors = os.listdir("/proc/self/fd")
    warm.up()
    assert capfd.readouterr() == ("", "")
    assert traces() == before
    assert os.listdir("/proc/self/fd") == descriptors
    assert list(tmp_path.iterdir()) == []
    assert (collect._open, scope.open_dags, scope.open_groups) == ([], [], [])
    with pytest.raises(UsageError):
        runtime.current()


def test_where_it_fails_it_says_so_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warm, "_SAMPLE", "1 / 0")
    before = traces()
    warm.up()
    assert "cannot warm up: RuntimeError: cannot import" in capfd.readouterr().err
    assert traces() == before


@pytest.mark.parametrize("code", [ALONE, WITH_A_THREAD])
def test_a_process_that_acts_as_if_forked_goes_on_as_before(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, timeout=limit(60))
