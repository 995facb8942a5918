"""What an ignore file says, and when it says nothing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from flow.roles.parse import ignore
from flow.roles.parse.ignore import FLOW, Ignore


def test_only_time_of_a_processor_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a busy machine would have files imported that are ignored."""

    def starved(path: str, folder: bool) -> bool:
        time.sleep(0.2)
        return True

    monkeypatch.setattr(ignore, "_LONGEST", 0.05)
    verdict = Ignore()._limited("file", starved)
    assert verdict("one.py", False) is True


def test_a_file_that_is_too_large_is_passed_over_as_a_whole(
    tmp_path: Path,
) -> None:
    """The beginning of a pattern may well ignore more than all of it."""
    folder, file = str(tmp_path), tmp_path / FLOW
    file.write_text("#" * (ignore._LARGEST - 6) + "\nx.py\n")
    assert Ignore().within(folder, [FLOW]).ignores(f"{folder}/x.py", folder=False)
    file.write_text("#" * (ignore._LARGEST - 6) + "\nx.py\n/\n")
    unheeded: dict[str, str] = {}
    rules = Ignore(unheeded=unheeded).within(folder, [FLOW])
    assert not rules.ignores(f"{folder}/x.py", folder=False)
    assert unheeded == {
        str(file): "it ignores nothing: it is larger than 1 MiB: write fewer patterns"
    }
