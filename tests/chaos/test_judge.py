"""The judge sees what is wrong: each kind of wrong, planted in marks that are right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chaos.judge import Run, judge
from chaos.marks import Mark, Place, parse
from chaos.story import REPAIRED
from chaos.workload import Work, intervals

GOOD = Work("good", ("only",), "")
DOOMED = Work("doomed", ("fails", "never"), "", succeeds=False, retries=1)
FIRST, SECOND, THIRD = intervals(3)
RUNS = [
    Run("good", FIRST, "success"),
    Run("good", SECOND, "success"),
    Run("doomed", FIRST, "failed"),
]
MARKS = f"""\
1.0 host 10 good {FIRST} only 1 start
2.0 host 10 good {FIRST} only 1 alive
3.0 host 11 good {FIRST} only 2 start
4.0 host 11 good {FIRST} only 2 end
5.0 host 12 good {SECOND} only 1 start
6.0 host 12 good {SECOND} only 1 end
1.0 host 20 doomed {FIRST} fails 1 start
2.0 host 20 doomed {FIRST} fails 1 failed
3.0 host 21 doomed {FIRST} fails 2 start
4.0 host 21 doomed {FIRST} fails 2 failed
"""
EFFECTS = {Place("good", FIRST, "only"): ["2.11"], Place("good", SECOND, "only"): ["1.12"]}


def read(text: str) -> list[Mark]:
    return sorted(parse(line) for line in text.splitlines())


def test_nothing_is_wrong() -> None:
    assert judge([GOOD, DOOMED], RUNS, read(MARKS), EFFECTS, {}) == []


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("2.0 host 10 good", "3.5 host 10 good", "two tries at once"),
        (f"{FIRST} only 2", f"{FIRST} only 1", "a number did not grow"),
        (f"4.0 host 11 good {FIRST} only 2 end\n", "", "its last try did not end"),
        (f"5.0 host 12 good {SECOND} only 1 start\n", "", "not one start"),
        (f"doomed {FIRST} fails 2", f"doomed {FIRST} never 1", "what it waits for has failed"),
        ("5.0 host 12", f"0.5 host 9 good {THIRD} only 1 start\n5.0 host 12", "no such run"),
        (
            "1.0 host 20",
            f"0.1 host 19 doomed {FIRST} fails 0 start\n0.2 host 19 doomed {FIRST} fails 0 failed\n"
            "1.0 host 20",
            "it failed 3 times, and may 2 times",
        ),
    ],
    ids=["overlap", "number", "unended", "unstarted", "after failure", "unknown run", "retries"],
)  # fmt: skip
def test_wrong_marks(before: str, after: str, sentence: str) -> None:
    assert MARKS.count(before) >= 1
    found = judge([GOOD, DOOMED], RUNS, read(MARKS.replace(before, after)), EFFECTS, {})
    assert any(sentence in one for one in found), found


@pytest.mark.parametrize("rows", [[], ["1.10"], ["1.10", "2.11"]])
def test_wrong_effects(rows: list[str]) -> None:
    effects = EFFECTS | {Place("good", FIRST, "only"): rows}
    (found,) = judge([GOOD, DOOMED], RUNS, read(MARKS), effects, {})
    assert "its effect does not stand once" in found


def test_effect_of_what_cannot_succeed() -> None:
    effects = EFFECTS | {Place("doomed", FIRST, "never"): ["1.30"]}
    (found,) = judge([GOOD, DOOMED], RUNS, read(MARKS), effects, {})
    assert "it cannot succeed" in found


def test_wrong_runs() -> None:
    def wrong(runs: list[Run]) -> str:
        return " ".join(judge([GOOD, DOOMED], runs, read(MARKS), EFFECTS, {}))

    assert f"good/{FIRST}: no run" in wrong(RUNS[1:])
    assert f"good/{SECOND}: 2 runs" in wrong([*RUNS, RUNS[1]])
    assert "its run is running, not success" in wrong(
        [replace(RUNS[0], state="running"), *RUNS[1:]]
    )
    assert "doomed: it never ran" in wrong(RUNS[:2])


def test_losses_allow_more_failures() -> None:
    more = (
        MARKS
        + f"5.0 host 22 doomed {FIRST} fails 3 start\n6.0 host 22 doomed {FIRST} fails 3 failed\n"
    )
    lost = {Place("doomed", FIRST, "fails"): 1}
    assert judge([GOOD, DOOMED], RUNS, read(more), EFFECTS, lost) == []


@pytest.mark.parametrize(
    "what",
    [
        "run 7 was forgotten: it had neither a wake-up nor an owned task",
        "DAG sales was forgotten: it had room for a queued run and no wake-up",
        "task load of run 7 was forgotten: it had room and no wake-up",
    ],
)
def test_a_repair_is_seen(what: str) -> None:
    line = f"2026-10-09 10:00:00,000 ERROR flow.roles.schedule.sweep: {what}"
    assert REPAIRED.findall(f"before\n{line}\nafter") == [line]
