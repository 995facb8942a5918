"""What a child sends is checked before anything of it is believed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from flow.graph import DagSpec, TaskSpec, encode, spec_hash
from flow.graph.imported import ImportFailure
from flow.process.events import JobEnded
from flow.process.last_words import LastWords
from flow.process.messages import Evaluated, Parsed
from flow.process.verdict import Limits
from flow.roles.parse.imports import Imported
from flow.roles.parse.verdict import judge
from flow.timetables import Custom, Evaluation, Row
from flow.timetables.custom import MOST_ROWS

SILENT = LastWords("", None, None)
LIMITS = Limits(60.0, 2**30)
GOOD = DagSpec(dag_id="good", tasks=(TaskSpec(task_id="a", operator="x"),))


def imported(overdue: bool = False, **fields: Any) -> Imported:
    return Imported("/dags/a.py", 0.0, 1.0, SILENT, overdue, JobEnded(1, **fields))


def reported(*specs: bytes, lines: tuple[int, ...] | None = None, **fields: Any) -> Imported:
    lines = tuple(range(1, len(specs) + 1)) if lines is None else lines
    return imported(result=Parsed(specs=specs, lines=lines, **fields), exit_code=0)


def test_definitions_are_stored_in_canonical_form() -> None:
    (found,) = judge(
        reported(b'{"tasks": [{"operator":"x","task_id":"a"}], "dag_id": "good"}'), LIMITS
    )
    assert not isinstance(found, str)
    assert found.body == encode(GOOD)
    assert found.spec_hash == spec_hash(encode(GOOD))
    assert (found.line, found.schedule) == (1, "no schedule")


OWN = DagSpec(dag_id="own", timetable=Custom("Workdays", summary="on workdays"))
DAY = datetime(2026, 1, 1, tzinfo=UTC)


def row(start: datetime, length: timedelta = timedelta(days=1)) -> tuple[datetime, ...]:
    return start, start + length, start + length


def evaluation(*evaluated: Evaluated) -> Evaluation:
    found = judge(reported(encode(OWN), evaluated=evaluated), LIMITS)
    assert isinstance(found, list)
    assert found[0].evaluation is not None
    return found[0].evaluation


def test_what_a_timetable_said_is_believed_where_it_can_be() -> None:
    said = Evaluated(dag_id="own", rows=(row(DAY),), dry=True)
    other = Evaluated(dag_id="other", rows=(row(DAY),))
    assert evaluation(other, said) == Evaluation((Row(*row(DAY)),), dry=True)
    assert evaluation(Evaluated(dag_id="own", error="a\nb" * 9_000)).error
    (good,) = judge(reported(encode(GOOD), evaluated=(other,)), LIMITS)
    assert good.evaluation is None


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ((row(DAY), row(DAY)), "does not come after"),
        ((row(DAY), row(DAY - timedelta(hours=1))), "does not come after"),
        ((row(DAY, -timedelta(hours=1)),), "ends before it starts"),
        ((row(DAY.replace(tzinfo=None)),), "no time zone"),
    ],
)
def test_intervals_that_cannot_be_are_an_error_of_the_timetable(
    rows: tuple[Any, ...], word: str
) -> None:
    found = evaluation(Evaluated(dag_id="own", rows=rows))
    assert found.rows == ()
    assert word in str(found.error)


def test_no_more_of_them_are_taken_than_there_may_be() -> None:
    rows = tuple(row(DAY + number * timedelta(days=1)) for number in range(MOST_ROWS + 5))
    assert len(evaluation(Evaluated(dag_id="own", rows=rows)).rows) == MOST_ROWS


def test_a_timetable_of_which_nothing_was_said_and_one_that_brings_its_own_rows() -> None:
    assert "did not say" in str(evaluation().error)
    spec = DagSpec(dag_id="own", timetable=Custom("W", rows=(Row(*row(DAY)),)))
    failure = judge(reported(encode(spec)), LIMITS)
    assert isinstance(failure, ImportFailure)


@pytest.mark.parametrize(
    ("specs", "word"),
    [
        ((b"{",), "cannot be"),
        ((b'{"dag_id": 7}',), "cannot be"),
        ((encode(GOOD), encode(GOOD)), "twice"),
        ((encode(DagSpec(dag_id="../x")),), "not legal"),
        (
            (
                encode(
                    DagSpec(
                        dag_id="x", tasks=(TaskSpec(task_id="a", operator="x", upstream=("a",)),)
                    )
                ),
            ),
            "a >> a",
        ),
    ],
)
def test_what_fails_a_check_is_an_error(specs: tuple[bytes, ...], word: str) -> None:
    failure = judge(reported(*specs), LIMITS)
    assert isinstance(failure, ImportFailure)
    assert word in failure.error


def test_lines_and_specs_must_match() -> None:
    assert isinstance(judge(reported(encode(GOOD), lines=()), LIMITS), ImportFailure)


def test_an_error_of_any_size_and_line_is_kept_in_bounds() -> None:
    said = reported(error="a\nb" * 10_000, error_line=2**40, traceback="x" * 10**6 + "end")
    failure = judge(said, LIMITS)
    assert isinstance(failure, ImportFailure)
    assert "\n" not in failure.error
    assert len(failure.error) <= 2_000
    assert failure.line is None
    assert failure.traceback is not None
    assert failure.traceback.endswith("end")
    assert len(failure.traceback) == 100_000


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (imported(result=None, signal=11), "signal 11 (SIGSEGV)"),
        (imported(result=None, exit_code=0), "exit code 0"),
        (imported(result=None, signal=9, overdue=True), "longer than 60 s"),
        (imported(result=None, error="cannot start a process: no memory"), "no memory"),
        (Imported("/dags/a.py", 0.0, 1.0, SILENT, False, None), "kill"),
    ],
)
def test_a_death_is_told_in_words(ended: Imported, words: str) -> None:
    failure = judge(ended, LIMITS)
    assert isinstance(failure, ImportFailure)
    assert words in failure.error
