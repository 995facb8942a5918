"""The line of bars over the last minutes."""

from __future__ import annotations

from flow_tui.samples import HOLDS, KEPT, Samples


def line(*seen: tuple[float, int], now: float, width: int = 10) -> str:
    samples = Samples()
    for at, number in seen:
        samples.add(number, at)
    return samples.line(width, now)


def test_nobody_has_looked() -> None:
    assert line(now=1_000.0) == " " * 10


def test_the_newest_stands_at_the_right_and_the_largest_is_highest() -> None:
    part = KEPT / 10
    assert line((1_000.0 - part, 4), (1_000.0, 8), now=1_000.0).endswith("▄█")


def test_nothing_running_is_seen_and_not_looking_is_blank() -> None:
    part = KEPT / 10
    shown = line((1_000.0 - 4.5 * part, 0), (1_000.0, 0), now=1_000.0)
    assert shown[-1] == "▁"
    assert part > HOLDS
    assert shown[-3] == " "


def test_what_is_older_than_what_is_kept_is_forgotten() -> None:
    assert line((0.0, 100), (KEPT + 100.0, 1), now=KEPT + 100.0) == " " * 9 + "█"
