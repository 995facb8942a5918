"""Imports that are under way, without a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from flow.process import standstill
from flow.process.host import Host
from flow.process.verdict import Limits
from flow.roles.parse.imports import Imported, Imports
from waiting import limit, wait_until

BUFFERED = """
import atexit, os, sys
sys.stdout = open(1, "w", closefd=False, buffering=100_000)
print("printed")
atexit.register(os._exit, 3)
"""
LOGGED = """
import atexit, logging, logging.handlers, os
handler = logging.handlers.MemoryHandler(1_000, target=logging.StreamHandler())
logging.getLogger("kept").addHandler(handler)
logging.getLogger("kept").propagate = False
logging.getLogger("kept").warning("logged")
atexit.register(os._exit, 3)
"""
CANNOT_FLUSH = """
import sys
class Output:
    def write(self, text):
        return len(text)
    def flush(self):
        raise RuntimeError("it is broken")
sys.stdout = Output()
"""
AT_EXIT = """
import atexit, sys
sys.stdout = open(1, "w", closefd=False, buffering=100_000)
atexit.register(print, "at the end", end="")
"""


@pytest.fixture(scope="module")
def one_by_one() -> Iterator[Imports]:
    with closing(Imports("test-output", Limits(timeout=limit(60)))) as imports:
        yield imports


@pytest.mark.parametrize(
    ("text", "output", "exit_code"),
    [
        (BUFFERED, "printed", 3),
        (LOGGED, "logged", 3),
        (CANNOT_FLUSH, "", 0),
        (AT_EXIT, "at the end", 0),
    ],
)
def test_what_a_file_prints_arrives_however_it_ends(
    one_by_one: Imports, tmp_path: Path, text: str, output: str, exit_code: int
) -> None:
    file = tmp_path / "prints.py"
    file.write_text(text)
    one_by_one.start(str(file), str(tmp_path))
    (imported,) = wait_until(lambda: list(one_by_one.news()), "the end of the import")
    assert isinstance(imported, Imported)
    assert imported.ended is not None
    assert (imported.last.output, imported.ended.exit_code) == (output, exit_code)


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


def test_the_time_of_an_import_begins_when_the_zygote_has_loaded(tmp_path: Path) -> None:
    file = tmp_path / "sleeps.py"
    file.write_text("import time\ntime.sleep(9999)\n")
    with closing(Imports("test-loading", Limits(timeout=limit(60)))) as under_way:
        under_way.start(str(file), str(tmp_path))
        (one,) = under_way._running.values()
        ends = one.deadline

        def is_later() -> bool:
            assert not list(under_way.news())
            return one.deadline > ends

        wait_until(is_later, "a later end of its time")
