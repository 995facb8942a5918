"""What a timetable of the user's own is asked, and what becomes of its answers."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pendulum
import pytest

from flow import DAG
from flow.authoring.serialise import to_spec
from flow.errors import InvalidDag
from flow.process import ahead
from flow.process.jobs import ParseJob
from flow.process.messages import Evaluated, Parsed, SchedulePosition
from flow.process.parse import run_parse
from flow.timetables.base import DagRunInfo, DataInterval, Timetable
from flow.timetables.custom import MOST_ROWS
from support.jobs import run

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
START = datetime(2024, 1, 1, tzinfo=UTC)
NOWHERE = SchedulePosition()


class Hourly(Timetable):
    """From the start date on; notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[DataInterval | None, Any]] = []

    def first(self, restriction: Any) -> Any:
        return restriction.earliest or pendulum.datetime(2024, 1, 1)

    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        self.asked.append((last_automated_data_interval, restriction))
        last = last_automated_data_interval
        start = self.first(restriction) if last is None else last.start.add(hours=1)
        return DagRunInfo.interval(start, start.add(hours=1))


def dag(timetable: Timetable, **arguments: Any) -> DAG:
    arguments.setdefault("start_date", START)
    return DAG("own", schedule=timetable, **arguments)


def evaluate(
    timetable: Timetable, position: SchedulePosition = NOWHERE, seconds: float = 30.0, **arguments
) -> Evaluated:
    (found,) = ahead.evaluate([dag(timetable, **arguments)], lambda _: position, seconds)
    return found


def test_with_full_catchup_all_from_the_start_date_on() -> None:
    timetable = Hourly()
    found = evaluate(timetable, catchup=True)
    assert (found.error, found.dry) == (None, False)
    assert [row[0] for row in found.rows] == [START + n * HOUR for n in range(MOST_ROWS)]
    assert all(end == run_after == start + HOUR for start, end, run_after in found.rows)
    (first, restriction), (second, _) = timetable.asked[:2]
    assert first is None
    assert (restriction.earliest, restriction.latest, restriction.catchup) == (START, None, True)
    assert second == (START, START + HOUR)
    assert isinstance(second.start, pendulum.DateTime)


@pytest.mark.parametrize("catchup", [False, "none"])
def test_else_the_latest_that_is_due_and_those_to_come(catchup: bool | str) -> None:
    before = datetime.now(UTC)
    timetable = Hourly()
    found = evaluate(timetable, catchup=catchup, start_date=before - 400 * DAY)
    assert len(found.rows) == MOST_ROWS
    due = [row for row in found.rows if row[2] <= before]
    assert len(due) <= 1
    assert found.rows[0][2] > before - 2 * HOUR
    assert timetable.asked[0][1].catchup is False


def test_it_goes_on_from_the_last_interval_and_never_behind_the_cursor() -> None:
    timetable = Hourly()
    cursor = START + 10 * HOUR
    position = SchedulePosition(last=(START + 4 * HOUR, START + 5 * HOUR), cursor=cursor)
    found = evaluate(timetable, position, catchup=True)
    assert timetable.asked[0][0] == position.last
    assert [row[0] for row in found.rows[:2]] == [cursor, cursor + HOUR]


def test_the_end_date_ends_it_quietly() -> None:
    found = evaluate(Hourly(), catchup=True, end_date=START + 2 * HOUR)
    assert [row[0] for row in found.rows] == [START, START + HOUR, START + 2 * HOUR]
    assert (found.error, found.dry) == (None, False)


def test_what_comes_after_more_than_a_year_is_not_listed_at_length() -> None:
    class Monthly(Hourly):
        def next_dagrun_info(self, *, last_automated_data_interval, restriction):
            last = last_automated_data_interval
            start = restriction.earliest if last is None else last.start.add(months=1)
            return DagRunInfo.interval(start, start.add(months=1))

    now = datetime.now(UTC)
    found = evaluate(Monthly(), start_date=now - 40 * DAY)
    assert 16 <= len(found.rows) < 20
    assert found.rows[-1][2] > now + 366 * DAY


def test_running_dry_is_told() -> None:
    class Three(Hourly):
        def next_dagrun_info(self, **asked):
            info = super().next_dagrun_info(**asked)
            return info if info.run_after <= START + 3 * HOUR else None

    found = evaluate(Three(), catchup=True)
    assert ([row[0] for row in found.rows], found.dry) == (
        [START + n * HOUR for n in range(3)],
        True,
    )
    # With an end date it is the end that was meant.
    assert not evaluate(Three(), catchup=True, end_date=START + 10 * HOUR).dry


class Wrong(Hourly):
    """Answers what `answer` makes of the third interval."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def next_dagrun_info(self, **asked):
        info = super().next_dagrun_info(**asked)
        return self.answer(info) if len(self.asked) == 3 else info


def fail(_: object) -> None:
    raise ValueError("no calendar for 2031")


def end_process(_: object) -> None:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (fail, "ValueError: no calendar for 2031"),
        (end_process, "SystemExit: 3"),
        (lambda _: (1, 2), "returned (1, 2)"),
        (lambda info: DagRunInfo(info.run_after, None), "returned DagRunInfo"),
        (lambda info: DagRunInfo("soon", info.data_interval), "'soon' as a moment"),
        (lambda _: DagRunInfo.exact(datetime(2024, 6, 1)), "has no time zone"),
        (lambda _: DagRunInfo.exact(START), "does not come after"),
        (lambda _: DagRunInfo(START, DataInterval(START + DAY, START + DAY)), "does not come"),
        (lambda _: DagRunInfo.interval(START + DAY, START), "ends before it starts"),
    ],
)
def test_what_it_does_wrong_is_told_and_what_it_gave_before_counts(answer: Any, said: str) -> None:
    found = evaluate(Wrong(answer), catchup=True)
    assert found.error is not None
    assert said in found.error
    assert [row[0] for row in found.rows] == [START, START + HOUR]
    assert found.traceback
    assert not found.dry


def test_one_that_stands_still_is_found_at_its_first_answer() -> None:
    class Still(Hourly):
        def next_dagrun_info(self, **_):
            return DagRunInfo.exact(START)

    position = SchedulePosition(last=(START, START), cursor=START + HOUR)
    assert "does not come after the last one" in str(evaluate(Still(), position).error)


@pytest.mark.parametrize(("how", "limit"), [("sleep", "1.2 s"), ("loop", "0.3 s of a processor")])
def test_one_that_never_answers_is_interrupted(
    how: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "loop":  # however little of a busy processor it gets
        monkeypatch.setattr(ahead, "_REAL", 1_000.0)
        monkeypatch.setattr(ahead, "SECONDS_OF_FILE", 300.0)

    class Hangs(Hourly):
        def next_dagrun_info(self, **_):
            while True:
                try:
                    while how == "loop":
                        pass
                    time.sleep(60)
                except Exception:
                    pass

    used = {signal.ITIMER_REAL: signal.SIGALRM, signal.ITIMER_PROF: signal.SIGPROF}
    before = [signal.getsignal(number) for number in used.values()]
    found = evaluate(Hangs(), seconds=0.3)
    assert found.error == f"OutOfTime: it took longer than {limit}"
    assert [signal.getitimer(timer) for timer in used] == [(0, 0)] * 2
    assert [signal.getsignal(number) for number in used.values()] == before


def test_each_dag_is_asked_by_itself() -> None:
    dags = [
        DAG("bad", schedule=Wrong(fail), start_date=START, catchup=True),
        DAG("plain", schedule="@daily", start_date=START),
        DAG("good", schedule=Hourly(), start_date=START, catchup=True),
    ]
    asked: list[str] = []

    def position(dag_id: str) -> SchedulePosition:
        asked.append(dag_id)
        return NOWHERE

    found = {one.dag_id: one for one in ahead.evaluate(dags, position)}
    assert list(found) == asked == ["bad", "good"]
    assert found["bad"].error
    assert len(found["good"].rows) == MOST_ROWS


FILE = """
from datetime import UTC, datetime
from flow import DAG, Variable
from flow.timetables.base import DagRunInfo, Timetable

class Shifted(Timetable):
    def __init__(self, hours):
        self.hours = hours
    def serialize(self):
        return {"hours": self.hours}
    @property
    def summary(self):
        return f"every {self.hours} hours"
    def generate_run_id(self, **_):
        return "mine"
    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        last = last_automated_data_interval
        start = last.end if last else restriction.earliest
        return DagRunInfo.interval(start, start.add(hours=self.hours))

DAG("own", schedule=Shifted(6), start_date=datetime(2024, 1, 1, tzinfo=UTC), catchup=True)
DAG("other", schedule="@daily")
"""


@pytest.fixture
def parsed(tmp_path: Path) -> Iterator[Parsed]:
    """What the import of the file reports."""
    file = tmp_path / "own.py"
    file.write_text(FILE)
    ended = run(run_parse, ParseJob(file=str(file), root=str(tmp_path)), tmp_path / "log")
    assert [type(one).__name__ for one in ended.requests] == ["GetSchedulePosition"]
    (found,) = ended.reports
    yield found


def test_an_import_reports_what_comes(parsed: Parsed) -> None:
    (own,) = parsed.evaluated
    assert own.dag_id == "own"
    assert own.rows[0] == (START, START + 6 * HOUR, START + 6 * HOUR)
    assert all(one[1] == following[0] for one, following in pairwise(own.rows))
    (warning,) = parsed.warnings
    assert "Shifted.generate_run_id is never called" in warning


def test_a_spec_knows_the_class_and_its_arguments() -> None:
    class Shifted(Hourly):
        description = "now and then"

        def serialize(self):
            return {"b": 1, "a": [True]}

    spec = to_spec(dag(Shifted()))
    assert spec.timetable.state == '{"a":[true],"b":1}'
    assert spec.timetable.name.endswith("Shifted")
    assert spec.timetable.words() == "now and then"
    assert to_spec(dag(Hourly())).timetable.words() == "Hourly"


def test_what_it_objects_to_is_an_error_of_the_file() -> None:
    class Picky(Hourly):
        def validate(self):
            raise ValueError("hours must be positive")

    class Silent(Hourly):
        def serialize(self):
            return {"when": object()}

    class Alone(Hourly):
        active_runs_limit = 2

    with pytest.raises(InvalidDag, match=r"test_ahead.py:\d+: .*hours must be positive"):
        dag(Picky())
    with pytest.raises(InvalidDag, match="timetable Silent: TypeError"):
        dag(Silent())
    with pytest.raises(InvalidDag, match="max_active_runs is 16, but timetable Alone allows 2"):
        to_spec(dag(Alone()))
    assert to_spec(dag(Alone(), max_active_runs=2))
