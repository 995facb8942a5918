"""What case files declare: breaks that fit the product, and things that really are missing."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from cases import breaks
from cases.breaks import Case
from verbs import has_verb

FILES = breaks.files()


@pytest.fixture(params=FILES, ids=lambda path: path.stem.removeprefix("test_"))
def case(request: pytest.FixtureRequest) -> Case:
    """A case; read when its turn comes, since that imports its file."""
    return breaks.read(request.param)


def test_there_are_cases() -> None:
    assert len(FILES) >= 4


def test_each_break_fits(case: Case) -> None:
    assert case.breaks, "a case has to name at least one break that turns it red"
    assert [change.fault() for change in case.breaks if change.fault()] == []


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
