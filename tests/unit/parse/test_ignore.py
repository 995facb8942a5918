"""What an ignore file says, and when it says nothing."""

from __future__ import annotations

import time

import pytest

from flow.roles.parse import ignore


def test_only_time_of_a_processor_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a busy machine would have files imported that are ignored."""

    def starved(path: str, folder: bool) -> bool:
        time.sleep(0.2)
        return True

    monkeypatch.setattr(ignore, "_LONGEST", 0.05)
    verdict = ignore._limited("file", starved)
    assert verdict("one.py", False) is True
