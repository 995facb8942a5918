"""Who may go: limits are never exceeded, nothing hides behind what is full, nobody starves."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from flow.decide import Candidate, Refusal, Room, admit

SERVED = frozenset({("local", "default")})


def task(number: int, **fields) -> Candidate:
    values = {
        "run_key": 1,
        "task_id": f"t{number}",
        "map_path": (number,),
        "dag_id": "d",
        "pool": "p",
        "slots": 1,
        "queue": "default",
        "executor": "local",
        **fields,
    }
    return Candidate(**values)


def copy(room: Room) -> Room:
    maps = ("pools", "sizes", "dags", "runs", "run_tasks", "dag_tasks")
    return replace(room, **{name: dict(getattr(room, name)) for name in maps})


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[Candidate], Room]:
    """Candidates in an order, raised ones first, and some room in every limit."""
    run_of = {run: f"d{run % 2}" for run in range(4)}
    candidates = []
    for number in range(draw(st.integers(0, 12))):
        run = draw(st.integers(0, 3))
        candidates.append(
            task(
                number,
                run_key=run,
                dag_id=run_of[run],
                task_id=draw(st.sampled_from("ab")),
                pool=draw(st.sampled_from(["p", "q", "endless"])),
                slots=draw(st.integers(0, 3)),
                queue=draw(st.sampled_from(["default", "default", "unserved"])),
                run_limit=draw(st.sampled_from([None, 1, 2])),
                dag_limit=draw(st.sampled_from([None, 1, 3])),
                raised=draw(st.booleans()),
            )
        )
    room = Room(served=SERVED)
    for pool in ("p", "q"):
        room.sizes[pool] = draw(st.integers(0, 5))
        room.pools[pool] = draw(st.integers(-2, room.sizes[pool]))
    room.runs = {run: draw(st.integers(-1, 3)) for run in (0, 1)}
    room.dags = {"d0": draw(st.integers(-1, 4))}
    for one in candidates:
        if one.run_limit is not None:
            room.run_tasks[one.run_key, one.task_id] = one.run_limit
        if one.dag_limit is not None:
            room.dag_tasks[one.dag_id, one.task_id] = one.dag_limit
    return sorted(candidates, key=lambda one: not one.raised), room


def fits(before: Room, admitted: list[Candidate]) -> bool:
    """Whether all limits hold with so many tasks more: everything counted anew."""

    def within(left: dict, taken: Counter) -> bool:
        return all(count <= max(0, left[key]) for key, count in taken.items() if key in left)

    slots: Counter = Counter()
    for one in admitted:
        slots[one.pool] += one.slots
    return (
        within(before.pools, slots)
        and within(before.runs, Counter(one.run_key for one in admitted))
        and within(before.dags, Counter(one.dag_id for one in admitted))
        and within(before.run_tasks, Counter((one.run_key, one.task_id) for one in admitted))
        and within(before.dag_tasks, Counter((one.dag_id, one.task_id) for one in admitted))
        and all((one.executor, one.queue) in before.served for one in admitted)
    )


def keeps(before: Room, admitted: list[Candidate], one: Candidate) -> bool:
    """Whether a task that was left out keeps its pool for itself: only the pool is in its way."""
    elsewhere = replace(copy(before), pools={})
    return (
        one.raised
        and one.slots <= before.sizes.get(one.pool, 0)
        and fits(elsewhere, [*admitted, one])
    )


@given(situations())
def test_what_is_admitted_is_what_goes_down_the_list_and_takes_what_fits(
    situation: tuple[list[Candidate], Room],
) -> None:
    candidates, room = situation
    admitted = admit(candidates, copy(room))
    expected: list[Candidate] = []
    kept: set[str] = set()
    for one in candidates:
        barred = one.slots > 0 and one.pool in kept
        if not barred and fits(room, [*expected, one]):
            expected.append(one)
        elif not barred and keeps(room, expected, one):
            kept.add(one.pool)
    assert admitted == expected
    assert fits(room, admitted)


@given(situations())
def test_whoever_is_left_out_has_a_limit_to_name(
    situation: tuple[list[Candidate], Room],
) -> None:
    candidates, room = situation
    admitted = admit(candidates, room)
    assert all(room.refusal(one) is not None for one in candidates if one not in admitted)


def test_a_raised_task_keeps_its_pool_until_it_fits_and_no_longer() -> None:
    big, small = task(0, slots=3, raised=True), task(1)
    assert admit([big, small], Room({"p": 2}, {"p": 4}, served=SERVED)) == []
    assert admit([big, small], Room({"p": 4}, {"p": 4}, served=SERVED)) == [big, small]


def test_what_can_never_fit_keeps_nothing() -> None:
    huge, small = task(0, slots=9, raised=True), task(1)
    assert admit([huge, small], Room({"p": 2}, {"p": 4}, served=SERVED)) == [small]


def test_a_raised_task_that_another_limit_holds_back_keeps_nothing() -> None:
    full, small = task(0, slots=3, raised=True, run_key=9), task(1)
    assert admit([full, small], Room({"p": 2}, {"p": 4}, runs={9: 0}, served=SERVED)) == [small]


def test_the_first_limit_in_the_way_is_the_one_that_is_named() -> None:
    one = task(0, run_limit=1, dag_limit=1)
    room = Room({"p": 0}, {"p": 1}, {"d": 0}, {1: 0}, {(1, "t0"): 0}, {("d", "t0"): 0})
    found = [room.refusal(one)]
    for served, limits in [
        (SERVED, None), (SERVED, room.runs), (SERVED, room.dags), (SERVED, room.run_tasks),
        (SERVED, room.dag_tasks), (SERVED, room.pools),
    ]:  # fmt: skip
        room.served = served
        if limits is not None:
            limits.clear()
        found.append(room.refusal(one))
    assert found == [*Refusal, None]
