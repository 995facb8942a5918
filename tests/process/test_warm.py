"""Warming up: the sample runs to its end, and nothing of it is left in the process."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from flow.authoring import collect, runtime, scope
from flow.errors import UsageError
from flow.process import finish, warm


@pytest.fixture(autouse=True)
def other_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """A last word buries dead children first: those of this process are other tests'."""
    monkeypatch.setattr(finish, "_alone", lambda: True)


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
