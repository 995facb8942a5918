"""The bar, the rate and the lines of a backfill that is followed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from flow.store.read.backfills import Interval
from flow.wording.backfill_progress import Speed, cells
from flow_cli.backfill_progress import Follower

DAY = datetime(2026, 10, 9, tzinfo=UTC)


def interval(number: int, state: str, action: str = "create") -> Interval:
    start = DAY + timedelta(days=number)
    return Interval(start, start + timedelta(days=1), action, None, f"run {number}", state)


@pytest.mark.parametrize(
    ("states", "width", "expected"),
    [
        (["success", "running"], 80, ["success", "running"]),
        (["success"] * 3 + ["failed"] + ["waiting"], 3, ["success", "failed", "waiting"]),
        (["success"] * 100, 80, ["success"] * 50),
        ([], 80, []),
    ],
)
def test_a_cell_shows_the_loudest_of_its_intervals(states, width, expected) -> None:
    assert cells(states, width) == expected


def test_the_rate_counts_from_the_first_look() -> None:
    speed = Speed(began=100.0, before=10)
    assert speed.per_minute(10, 130.0) is None
    assert speed.left(10, 40, 130.0) is None
    assert speed.per_minute(25, 130.0) == pytest.approx(30.0)
    assert speed.left(25, 40, 130.0) == pytest.approx(30.0)


def test_each_end_is_told_once_and_again_when_it_ends_again() -> None:
    follower = Follower()
    first = [interval(0, "success"), interval(1, "failed"), interval(2, "failed", "skip")]
    assert follower.ended(first) == [first[1]]
    assert follower.ended([first[0], interval(1, "running")]) == []
    second = [first[0], interval(1, "failed"), interval(3, "success")]
    assert follower.ended(second) == second[1:]
