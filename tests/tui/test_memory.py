"""What the terminal UI remembers, and folders that cannot hold it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_tui.memory import Memory


def test_what_is_remembered_is_there_the_next_time(tmp_path: Path) -> None:
    file = tmp_path / "state" / "flow" / "tui.json"
    memory = Memory(file)
    memory.set("theme", "flow-light")
    memory.save()
    assert Memory(file).get("theme") == "flow-light"
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("found", ["", "{", "[1]", '{"theme": 7, "log.search.history": {}}'])
def test_what_makes_no_sense_is_forgotten(found: str, tmp_path: Path) -> None:
    file = tmp_path / "tui.json"
    file.write_text(found)
    memory = Memory(file)
    assert memory.get("theme", "flow") == "flow"
    assert memory.history("log.search") == []


def test_where_nothing_can_be_kept_nothing_is(tmp_path: Path) -> None:
    in_the_way = tmp_path / "state"
    in_the_way.write_text("a file where a folder should be")
    directory = tmp_path / "tui.json"
    directory.mkdir()
    for file in (in_the_way / "flow" / "tui.json", directory):
        memory = Memory(file)
        memory.set("theme", "flow-light")
        memory.save()
    assert set(tmp_path.iterdir()) == {in_the_way, directory}
    assert list(directory.iterdir()) == []
