"""Hosts whose zygotes run `jobs.py`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import flow.process
from flow.process import tree
from flow.process.host import Host
from process.watched import COMMAND, Watched


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that a test starts find the package where this one found it."""
    engine = str(Path(flow.process.__path__[0]).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([engine, os.environ.get("PYTHONPATH", "")]))


@pytest.fixture
def make_host(tmp_path: Path) -> Iterator[Callable[..., Watched]]:
    made: list[Watched] = []

    def make(**arguments: Any) -> Watched:
        host = Host(f"test-{os.getpid()}", command=COMMAND, **arguments)
        made.append(Watched(host, tmp_path))
        return made[-1]

    yield make
    for watched in made:
        watched.host.close()
    assert tree.children(os.getpid()) == [], "a test left processes behind"


@pytest.fixture
def watched(make_host: Callable[..., Watched]) -> Watched:
    return make_host()
