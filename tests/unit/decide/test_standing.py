"""The limits that are named are those that admission refuses by, in its order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flow.decide.admit import Candidate, Room
from flow.decide.reason import Code
from flow.decide.standing import Limit, Standing, why_ready

CODES = {
    "queue": {Code.QUEUE_UNSERVED},
    "run": {Code.RUN_FULL},
    "dag": {Code.DAG_FULL},
    "pool": {Code.POOL_FULL, Code.POOL_TOO_SMALL},
}
LIMITS = st.none() | st.builds(Limit, st.integers(0, 4), st.integers(0, 5))


@given(run=LIMITS, dag=LIMITS, pool=LIMITS, slots=st.integers(1, 5), served=st.booleans())
def test_they_agree_with_admission(
    run: Limit | None, dag: Limit | None, pool: Limit | None, slots: int, served: bool
) -> None:
    candidate = Candidate(1, "t", (), "d", "p", slots, "q", "local")
    pairs = frozenset({("local", "q")} if served else ())
    reasons = why_ready(candidate, Standing(run, dag, pool, pairs))
    room = Room(
        pools={"p": pool.size - pool.used} if pool else {},
        dags={"d": dag.size - dag.used} if dag else {},
        runs={1: run.size - run.used} if run else {},
        served=pairs,
    )
    refusal = room.refusal(candidate)
    if refusal is None:
        assert reasons == []
    else:
        assert reasons[0].code in CODES[refusal]
    named = {key for key, codes in CODES.items() if {one.code for one in reasons} & codes}
    assert ("queue" in named) is not served
    for key, limit, wanted in (("run", run, 1), ("dag", dag, 1), ("pool", pool, slots)):
        assert (key in named) is (limit is not None and limit.size - limit.used < wanted)
    assert all(reason.text() for reason in reasons)
