"""Logs of earlier runs make room, and nothing of them is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flow.logs.earlier import earlier_logs, set_aside


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "attempt=1.log"


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_each_gets_the_next_number(log: Path) -> None:
    for story in range(1, 12):
        log.write_text(f"story {story}")
        set_aside(log)
        assert not log.exists()
    kept = [path.read_text() for path in earlier_logs(log)]
    assert kept == [f"story {story}" for story in range(1, 12)]
    assert earlier_logs(log)[0].name == "attempt=1.earlier-run-1.log"


def test_a_number_is_not_given_again_before_a_later_one_is_gone(log: Path) -> None:
    aside = "attempt=1.earlier-run-"
    log.with_name(f"{aside}2.log.gz").write_text("compressed")
    log.with_name(f"{aside}x.log").write_text("somebody's own")
    log.with_name("attempt=11.earlier-run-7.log").write_text("of another try")
    log.write_text("story")
    set_aside(log)
    assert contents(log.parent) == {
        f"{aside}2.log.gz": "compressed",
        f"{aside}3.log": "story",
        f"{aside}x.log": "somebody's own",
        "attempt=11.earlier-run-7.log": "of another try",
    }


def test_who_still_writes_goes_on_there(log: Path) -> None:
    with log.open("a") as writer:
        writer.write("one ")
        writer.flush()
        set_aside(log)
        writer.write("two")
    assert contents(log.parent) == {"attempt=1.earlier-run-1.log": "one two"}


def test_what_holds_nothing_stays(log: Path) -> None:
    log.touch()
    set_aside(log)
    assert contents(log.parent) == {log.name: ""}
    log.unlink()
    os.mkfifo(log)
    set_aside(log)
    assert log.is_fifo()


def test_where_no_try_has_been_there_is_none(log: Path) -> None:
    assert earlier_logs(log.parent / "task_id=t" / "attempt=1.log") == []
