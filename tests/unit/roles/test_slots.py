"""How many slots a worker has that may have more or fewer."""

from __future__ import annotations

import pytest

from flow.roles.work import slots as module
from flow.roles.work.slots import Host, Slots, look

SPARE = Host(idle_cpu=0.5, free_memory=0.5)
STEADY = Host(idle_cpu=0.1, free_memory=0.15)
BUSY = Host(idle_cpu=0.02, free_memory=0.5)
FULL = Host(idle_cpu=0.5, free_memory=0.05)


def having(least: int, most: int, now: int) -> Slots:
    made = Slots(least, most, 0.1)
    made.now = now
    return made


def test_it_grows_by_half_while_all_are_used_and_the_host_can_spare_it() -> None:
    slots = Slots(1, 16, 0.1)
    seen = []
    for _ in range(9):
        slots.settle(slots.now, SPARE, wanting=True)
        seen.append(slots.now)
    assert seen == [2, 3, 4, 6, 9, 13, 16, 16, 16]


@pytest.mark.parametrize(
    ("used", "host", "wanting"),
    [(3, SPARE, True), (4, SPARE, False), (4, STEADY, True), (4, BUSY, True), (4, FULL, True)],
)
def test_else_it_does_not_grow(used: int, host: Host, wanting: bool) -> None:
    slots = having(2, 16, 4)
    slots.settle(used, host, wanting=wanting)
    assert slots.now == 4


@pytest.mark.parametrize("short", [BUSY, FULL])
def test_a_host_that_is_short_twice_in_a_row_has_a_quarter_fewer_running(short: Host) -> None:
    slots = having(4, 16, 16)
    seen = []
    for host in (short, STEADY, short, short, short, STEADY, short, short):
        slots.settle(12, host, wanting=True)
        seen.append(slots.now)
    assert seen == [16, 16, 16, 9, 9, 9, 9, 9], "until some of the twelve have ended"
    seen = []
    for _ in range(8):
        slots.settle(slots.now, short, wanting=True)
        seen.append(slots.now)
    assert seen == [9, 7, 7, 6, 6, 5, 5, 4]
    for _ in range(2):
        slots.settle(4, short, wanting=True)
    assert slots.now == 4


def test_after_a_quiet_time_it_begins_with_the_least() -> None:
    slots = having(4, 16, 16)
    slots.settle(4, SPARE, wanting=True)
    assert slots.now == 16
    slots.settle(3, SPARE, wanting=False)
    assert slots.now == 4


def test_a_range_from_0_begins_with_one_again_and_has_none_while_the_host_is_short() -> None:
    slots = having(0, 16, 0)
    slots.settle(0, STEADY, wanting=True)
    assert slots.now == 0
    slots.settle(0, SPARE, wanting=True)
    slots.settle(1, SPARE, wanting=True)
    slots.settle(2, SPARE, wanting=True)
    assert slots.now == 3
    for wanting in (False, True):
        slots.settle(0, STEADY, wanting=wanting)
        assert slots.now == 1
    for _ in range(2):
        slots.settle(0, FULL, wanting=False)
    assert slots.now == 0


def test_a_fixed_number_never_looks_and_a_range_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = []

    def note() -> Host:
        looks.append(1)
        return SPARE

    monkeypatch.setattr(module, "look", note)
    monkeypatch.setattr(module, "PAUSE", 0.0)
    fixed = Slots(4, 4, 0.1)
    fixed.adapt(4, wanting=True)
    assert (fixed.now, str(fixed), looks) == (4, "4 slots", [])
    range_ = Slots(4, 8, 0.1)
    monkeypatch.setattr(module, "PAUSE", 3600.0)
    range_.adapt(4, wanting=True)
    range_.adapt(6, wanting=True)
    assert (range_.now, str(range_), len(looks)) == (6, "6 slots (4 to 8)", 2)


def test_what_a_host_has_left_is_a_share() -> None:
    host = look()
    assert 0.0 <= host.idle_cpu <= 1.0
    assert 0.0 < host.free_memory <= 1.0
