"""What case files declare: breaks that fit the product, and things that really are missing."""

from __future__ import annotations

from importlib.util import find_spec

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
    there = [need for need in case.needs if exists(need)]
    assert there == [], f"{case.name} can use these now; extend it and shorten NEEDS"


def exists(need: str) -> bool:
    """Whether there is a verb `flow trigger`, or a package `flow.sensors`."""
    command, *words = need.split()
    return has_verb(words) if words else find_spec(command) is not None


def test_what_there_is_is_found() -> None:
    assert exists("flow up")
    assert exists("flow.operators")
    assert not exists("flow.nonsense")
    assert has_verb(["up"])
    assert has_verb(["config", "show"])
    assert not has_verb(["config"])
    assert not has_verb(["config", "nonsense"])
