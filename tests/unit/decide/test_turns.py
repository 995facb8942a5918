"""Places in an order of equal priority, played through and compared with what shares promise."""

from __future__ import annotations

from collections import Counter, deque
from heapq import heappop, heappush

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fair_places import first_place
from flow.decide import UNIT, Shares, offsets
from flow.decide.turns import LONGEST

FLOWS = "abcdef"


class Line:
    """A line in memory: (place, arrival, flow) of the tasks that wait, and the clock."""

    def __init__(self) -> None:
        self.waiting: list[tuple[int, int, str]] = []
        self.clock: int | None = None
        self.arrived = 0

    def join(self, flow: str, count: int, stride: int = UNIT) -> None:
        """Tasks of one DAG begin to wait, together."""
        own = [place for place, _, other in self.waiting if other == flow]
        first = first_place(self.clock, max(own, default=None), stride)
        for offset in offsets([(1, stride)] * count):
            heappush(self.waiting, (first + offset, self.arrived, flow))
            self.arrived += 1

    def serve(self) -> str:
        """Let the next one through."""
        self.clock, _, flow = heappop(self.waiting)
        return flow


def test_a_newcomer_is_served_within_one_round_of_a_dag_that_came_long_before() -> None:
    line = Line()
    line.join("big", 1000)
    served = [line.serve() for _ in range(300)]
    line.join("small", 3)
    served = [line.serve() for _ in range(7)]
    assert Counter(served) == {"big": 4, "small": 3}


def test_waiting_elsewhere_earns_nothing() -> None:
    line = Line()
    line.join("a", 500)
    for _ in range(400):
        line.serve()
    line.join("b", 500)
    assert [line.serve() for _ in range(100)].count("b") <= 51


@given(
    st.dictionaries(st.sampled_from(FLOWS), st.integers(1, 40), min_size=2),
    st.lists(st.tuples(st.sampled_from(FLOWS), st.integers(1, 5)), max_size=8),
)
def test_every_flow_that_waits_is_served_within_two_rounds(
    first: dict[str, int], later: list[tuple[str, int]]
) -> None:
    line = Line()
    for flow, count in first.items():
        line.join(flow, count)
    arrivals = deque(later)
    unserved: Counter[str] = Counter()
    while line.waiting:
        flows = {flow for _, _, flow in line.waiting}
        served = line.serve()
        for flow in flows - {served}:
            unserved[flow] += 1
            assert unserved[flow] <= 2 * (len(FLOWS) - 1)
        unserved[served] = 0
        if arrivals:
            line.join(*arrivals.popleft())


@given(st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0, 10.0]), min_size=2, max_size=5))
def test_shares_are_met_while_all_of_them_wait(weights: list[float]) -> None:
    shares = Shares({str(n): weight for n, weight in enumerate(weights)})
    line = Line()
    for flow in shares.dags:
        line.join(flow, 300, shares.stride(flow, "anybody", 1, backfill=False))
    served = Counter(line.serve() for _ in range(300))
    for flow, weight in shares.dags.items():
        entitled = 300 * weight / sum(weights)
        assert abs(served[flow] - entitled) <= max(weights) / min(weights) + 1


def test_a_stride_is_slots_by_the_shares_of_dag_owner_and_backfill() -> None:
    shares = Shares({"sales": 2.0}, {"ann": 5.0}, 0.5)
    assert shares.stride("other", "bob", 1, backfill=False) == UNIT
    assert shares.stride("other", "bob", 3, backfill=False) == 3 * UNIT
    assert shares.stride("sales", "bob", 1, backfill=False) == UNIT / 2
    assert shares.stride("sales", "ann", 1, backfill=False) == UNIT / 10
    assert shares.stride("sales", "ann", 1, backfill=True) == UNIT / 5


@pytest.mark.parametrize(("share", "slots", "stride"), [(1000.0, 1, 1), (0.001, 10**6, LONGEST)])
def test_a_stride_is_never_nothing_and_always_fits(share: float, slots: int, stride: int) -> None:
    assert Shares({"d": share}).stride("d", "", slots, backfill=False) == stride


def test_offsets_add_up_within_a_flow() -> None:
    assert offsets([(1, 10), (2, 5), (1, 10), (1, 30), (2, 5)]) == [0, 0, 10, 20, 5]
