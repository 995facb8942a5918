"""What is done about a zygote that looks find stopped."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from flow.process import standstill
from flow.process.standstill import Standstill


class Zygote:
    """A host whose zygote is found as `looks` say: `T` is stopped."""

    zygote = 4711

    def __init__(self, looks: str) -> None:
        self._looks = iter(looks)
        self.done = ""

    @property
    def frozen(self) -> bool:
        self.done += "."
        return next(self._looks) == "T"

    def thaw(self) -> None:
        self.done = self.done[:-1] + "c"

    def kill(self) -> None:
        self.done = self.done[:-1] + "k"


@pytest.fixture(autouse=True)
def always_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standstill, "INTERVAL", 0.0)


@pytest.mark.parametrize(
    ("continued", "looks", "done"),
    [
        (0, "TSTTT", "...k."),
        (0, "TTTT", ".k.k"),
        (3, "TSTSTS", "......"),
        (3, "TTSTTS", ".c..c."),
        (3, "TTTTTT", ".ccck."),
        (3, "TTTTSTTTTT", ".ccc..ccck"),
    ],
)
def test_it_is_continued_so_often_and_then_killed(continued: int, looks: str, done: str) -> None:
    zygote = Zygote(looks)
    seen = Standstill(zygote, continued=continued)  # type: ignore[arg-type]
    for _ in looks:
        seen.look()
    assert zygote.done == done


def test_what_is_done_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    seen = Standstill(Zygote("TTTTT"), continued=3)  # type: ignore[arg-type]
    for _ in range(5):
        seen.look()
    assert [(one.levelno, "4711" in one.getMessage()) for one in caplog.records] == [
        (logging.WARNING, True),
        (logging.ERROR, True),
    ]


def test_two_looks_are_a_while_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    times: Iterator[float] = iter([100.0, 100.5, 101.0])
    monkeypatch.setattr(standstill, "INTERVAL", 1.0)
    monkeypatch.setattr(standstill.time, "monotonic", lambda: next(times))
    zygote = Zygote("TT")
    seen = Standstill(zygote)  # type: ignore[arg-type]
    for _ in range(3):
        seen.look()
    assert (zygote.done, seen.look_at) == (".k", 102.0)
