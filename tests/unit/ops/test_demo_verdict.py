"""The demo's verdict finds what is wrong, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from flow.ops.demo.project import Totals
from flow.ops.demo.verdict import Night, problems
from flow.store.read.tasks import Try

RIGHT = Totals(orders=3_722, revenue_cents=4_472_600)


def one_try(number: int, state: str) -> Try:
    now = datetime(2026, 10, 9, tzinfo=UTC)
    return Try(number, state, now, now, "host:1", 2, 0, None, None, None, None, None)


def night(*states: str, **changed: object) -> Night:
    tries = [one_try(number + 1, state) for number, state in enumerate(states)]
    usual = Night("2026-10-09", "success", tries, RIGHT, RIGHT, RIGHT, killed=False)
    return usual._replace(**changed)


@pytest.mark.parametrize(
    "right",
    [night("success"), night("lost", "success"), night("lost", "success", killed=True)],
    ids=["undisturbed", "lost along with the other", "killed"],
)
def test_a_right_night_has_no_problems(right):
    assert problems([right], {"housekeeping": "success"}) == []


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (night("success", run_state="failed"), "the run of 2026-10-09 is failed"),
        (
            night("success", loaded=Totals(1_861, 2_236_300)),
            "2026-10-09 has 1861 orders of 22363.00 instead of 3722 orders of 44726.00",
        ),
        (
            night("success", reported=None),
            "2026-10-09 was reported with nothing instead of 3722 orders of 44726.00",
        ),
        (
            night("success", killed=True),
            "the load of 2026-10-09 went success; one lost try was to be followed by one success",
        ),
        (night("lost"), "the last try of the load of 2026-10-09 is no success"),
        (night(), "the last try of the load of 2026-10-09 is no success"),
    ],
)
def test_what_is_wrong_with_a_night_is_said(wrong, problem):
    assert problems([night("success"), wrong], {}) == [problem]


def test_another_pipeline_that_failed_is_a_problem():
    assert problems([], {"housekeeping": "failed"}) == ["the run of housekeeping is failed"]
