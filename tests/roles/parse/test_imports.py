"""Imports that are under way, without a database."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from flow.process import standstill
from flow.process.host import Host
from flow.process.verdict import Limits
from flow.roles.parse.imports import Imports
from waiting import limit


def test_a_zygote_that_is_found_stopped_by_one_look_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = iter([True, False, True, True, True])
    killed: list[Host] = []
    counts = []
    monkeypatch.setattr(Host, "frozen", property(lambda host: next(found)))
    monkeypatch.setattr(Host, "kill", lambda host: killed.append(host))
    monkeypatch.setattr(standstill, "INTERVAL", 0.0)
    file = tmp_path / "sleeps.py"
    file.write_text("import time\ntime.sleep(9999)\n")
    with closing(Imports("test-frozen", Limits(timeout=limit(60)))) as under_way:
        under_way.start(str(file), str(tmp_path))
        for _ in range(5):
            under_way.stop_overdue()
            counts.append(len(killed))
    assert counts == [0, 0, 0, 1, 1]
