"""What case files declare: breaks that fit the product, and things that really are missing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from cases import breaks
from cases.breaks import Break, Case, Red
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
    assert case.faults() == []


def test_what_a_case_lacks_does_not_exist(case: Case) -> None:
    there = [need for need in case.needs if exists(need)]
    assert there == [], f"{case.name} can use these now; extend it and shorten NEEDS"


@pytest.mark.parametrize(
    ("file", "text", "replacement", "said"),
    [
        ("good.py", "x = 1", "x = 2", None),
        ("good.py", "x", "z", "stands 2 times"),
        ("good.py", "y = 1", "", "stands 0 times"),
        ("good.py", "x = 1", "x = = 1", "is no Python"),
        ("bad.py", "x = 1", "x = 2", "there is no file"),
    ],
)
def test_a_break_that_does_not_fit_is_told_without_running(
    tmp_path: Path, file: str, text: str, replacement: str, said: str | None
) -> None:
    (tmp_path / "good.py").write_text("x = 1\nx += 1\n")
    fault = Break(file, text, replacement).fault(tmp_path)
    assert fault is None if said is None else fault and said in fault


def test_a_break_names_a_test_that_there_is() -> None:
    first = breaks.read(FILES[0])
    change = first.breaks[0]
    misspelt = Break(change.file, change.text, change.replacement, test="test_nothing")
    case = Case(first.path, [misspelt], (), first.tests)
    assert case.faults() == ["there is no test_nothing"]


@pytest.mark.parametrize(
    ("why", "is_verdict"),
    [
        ("AssertionError: assert 'failed' == 'success'", True),
        ("assert 2 <= 1", True),
        ("ValueError: not enough values to unpack (expected 1, got 0)", True),
        ('failed on setup with "AssertionError: waited 30 s for: the roles"', True),
        ("ValueError: invalid literal for int() with base 10: 'x'", False),
        ("ImportError: cannot import name 'x'", False),
        ("Failed: Timeout (>300.0s) from pytest-timeout.", False),
    ],
)
def test_what_a_verdict_is(why: str, is_verdict: bool) -> None:
    assert Red("test_it", why).is_verdict is is_verdict


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
