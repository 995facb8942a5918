"""Reasons: every code has its sentence, and times are told in a zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from string import Formatter
from zoneinfo import ZoneInfo

from flow.decide.reason import TEXTS, Code, Reason


def test_every_code_has_a_sentence():
    assert TEXTS.keys() == set(Code)
    for text in TEXTS.values():
        assert all(name is None or name.isidentifier() for _, name, _, _ in Formatter().parse(text))


def test_every_code_is_in_the_manual():
    page = Path(__file__).parents[3] / "man" / "flow-repair.7.md"
    written = re.findall(r"`([a-z_]+)`", page.read_text(encoding="utf-8"))
    assert set(Code) <= set(written)


def test_a_text_has_its_facts():
    reason = Reason(Code.POOL_FULL, {"pool": "warehouse", "used": 300, "limit": 300, "slots": 1})
    assert reason.text() == "pool warehouse: 300 of 300 slots used, and it needs 1"


def test_times_are_told_in_a_zone(monkeypatch):
    monkeypatch.setitem(TEXTS, Code.HELD, "held since {at}")
    reason = Reason(Code.HELD, {"at": datetime(2026, 10, 9, 12, tzinfo=UTC)})
    assert reason.text(ZoneInfo("Europe/Berlin")) == "held since 2026-10-09T14:00:00+02:00"
