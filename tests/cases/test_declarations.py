"""What case files declare: breaks that fit the product, and verbs that really are missing."""

from __future__ import annotations

import pytest

from cases.breaks import Case, cases
from verbs import has_verb

CASES = cases()


def test_there_are_cases() -> None:
    assert len(CASES) >= 4


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_break_fits(case: Case) -> None:
    assert case.breaks, "a case has to name at least one break that turns it red"
    assert [change.fault() for change in case.breaks if change.fault()] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_case_lacks_does_not_exist(case: Case) -> None:
    there = [verb for verb in case.needs if has_verb(verb.removeprefix("flow ").split())]
    assert there == [], f"{case.name} can use these now; extend it and shorten NEEDS"


def test_verbs_are_found() -> None:
    assert has_verb(["up"])
    assert has_verb(["config", "show"])
    assert not has_verb(["config"])
    assert not has_verb(["config", "nonsense"])
