"""The limits that are named are those that admission refuses by, in its order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.decide.admit import Candidate, Refusal, Room
from flow.decide.reason import Code
from flow.decide.standing import Limit, PoolStanding, Standing, why_pool, why_ready

CODES = {
    Refusal.QUEUE: {Code.QUEUE_UNSERVED},
    Refusal.RUN: {Code.RUN_FULL},
    Refusal.DAG: {Code.DAG_FULL},
    Refusal.TASK_IN_RUN: {Code.TASK_IN_RUN_FULL},
    Refusal.TASK_IN_DAG: {Code.TASK_IN_DAG_FULL},
    Refusal.POOL: {
        Code.POOL_FULL, Code.POOL_TOO_SMALL, Code.POOL_UNKNOWN, Code.POOL_CLOSED,
    },
}  # fmt: skip
LIMITS = st.none() | st.builds(Limit, st.integers(0, 4), st.integers(0, 5))
POOLS = st.none() | st.builds(PoolStanding, st.none() | st.integers(0, 4), st.integers(0, 5))


def left(limit: Limit | None) -> int:
    return 1 if limit is None else limit.size - limit.used


@given(
    run=LIMITS,
    dag=LIMITS,
    in_run=LIMITS,
    in_dag=LIMITS,
    pool=POOLS,
    slots=st.integers(0, 5),
    served=st.booleans(),
)
def test_they_agree_with_admission(
    run: Limit | None,
    dag: Limit | None,
    in_run: Limit | None,
    in_dag: Limit | None,
    pool: PoolStanding | None,
    slots: int,
    served: bool,
) -> None:
    candidate = Candidate(1, "t", (), "d", "p", slots, "q", "local")
    pairs = frozenset({("local", "q")} if served else ())
    reasons = why_ready(candidate, Standing(run, dag, in_run, in_dag, pool, pairs))
    free = slots if pool is None else (pool.size or 0) - pool.used
    room = Room(
        pools={"p": free},
        dags={"d": left(dag)},
        runs={1: left(run)},
        run_tasks={(1, "t"): left(in_run)},
        dag_tasks={("d", "t"): left(in_dag)},
        served=pairs,
    )
    refused = {
        Refusal.QUEUE: not served,
        Refusal.RUN: left(run) < 1,
        Refusal.DAG: left(dag) < 1,
        Refusal.TASK_IN_RUN: left(in_run) < 1,
        Refusal.TASK_IN_DAG: left(in_dag) < 1,
        Refusal.POOL: slots > 0 and free < slots,
    }
    expected = [refusal for refusal in Refusal if refused[refusal]]
    assert room.refusal(candidate) == (expected[0] if expected else None)
    assert len(reasons) == len(expected)
    assert all(one.code in CODES[refusal] for one, refusal in zip(reasons, expected, strict=True))
    assert all(reason.text() for reason in reasons)


@pytest.mark.parametrize(
    ("size", "used", "slots", "said"),
    [
        (None, 0, 1, "there is no pool p; make it: flow pools set p N"),
        (0, 0, 1, "pool p has 0 slots: nothing starts"),
        (2, 0, 3, "pool p: it needs 3 of 2 slots: it can never start"),
        (2, 6, 3, "pool p: it needs 3 of 2 slots: it can never start"),
        (4, 3, 3, "pool p: 3 of 4 slots used, and it needs 3"),
        (4, 1, 3, "pool p has room: another limit keeps it waiting, or those who come first"),
        (-1, 9, 3, "pool p has room: another limit keeps it waiting, or those who come first"),
    ],
)
def test_how_a_pool_stands(size: int | None, used: int, slots: int, said: str) -> None:
    reason = why_pool("p", PoolStanding(size, used), slots)
    assert (reason.text(), reason.refers_to) == (said, "pool:p")
