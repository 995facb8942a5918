"""Timetables of the user's own: stored ahead, refreshed in time, and kept when they fail."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dag_folder import Folder
from flow.roles.schedule import Scheduler, Settings
from flow.store import dag_intervals
from flow.store.connect import transaction
from flow.timetables import Evaluation, Row
from flow.timetables.custom import MOST_ROWS

HOUR = timedelta(hours=1)
START = datetime(2024, 1, 1, tzinfo=UTC)

FILE = """
    from datetime import UTC, datetime
    from flow import DAG
    from flow.operators.empty import EmptyOperator
    from flow.timetables.base import DagRunInfo, Timetable

    class Hourly(Timetable):
        def next_dagrun_info(self, *, last_automated_data_interval, restriction):
            last = last_automated_data_interval
            start = last.end if last else restriction.earliest
            {then}
            return DagRunInfo.interval(start, start.add(hours=1))

    with DAG("own", schedule={schedule}, start_date=datetime(2024, 1, 1, tzinfo=UTC),
             catchup={catchup}):
        EmptyOperator(task_id="nothing")
    with DAG("other", tags={tags}):
        EmptyOperator(task_id="nothing")
    """


def write(
    folder: Folder,
    then: str = "pass",
    schedule: str = "Hourly()",
    catchup: bool | str = True,
    tags: tuple[str, ...] = (),
) -> None:
    """Write the file, and let it be parsed."""
    folder.write(
        "own.py", FILE.format(then=then, schedule=schedule, catchup=catchup, tags=list(tags))
    )
    folder.parse(paused_at_creation=False)


def starts(folder: Folder) -> list[datetime]:
    rows = folder.conn.execute("select data_interval_start from dag_interval order by 1")
    return [row[0] for row in rows]


def runs(folder: Folder) -> list[datetime]:
    rows = folder.conn.execute(
        "select data_interval_start from run where dag_id = 'own' order by 1"
    )
    return [row[0] for row in rows]


def schedule(folder: Folder, passes: int) -> None:
    """Let a scheduler make so many passes; each makes one run of a DAG with a backlog."""
    settings = Settings(dsn=folder.dsn, listen_dsn=folder.dsn, version="test")
    scheduler = Scheduler(settings, folder.conn)
    for _ in range(passes):
        scheduler.run_once()


def advance(folder: Folder, count: int) -> None:
    """Let so many of its intervals have got their runs."""
    cursor = START + count * HOUR
    folder.conn.execute("update dag set cursor_at = %s where dag_id = 'own'", (cursor,))


def evaluate_again(folder: Folder) -> None:
    """Let the pause be over."""
    folder.conn.execute("update dag_evaluation set refresh_at = clock_timestamp()")
    folder.parse()


def hours(first: int, count: int) -> list[datetime]:
    return [START + number * HOUR for number in range(first, first + count)]


def error(folder: Folder) -> str | None:
    found = dag_intervals.failed(folder.conn, "own")
    return found.error if found else None


def test_intervals_are_stored_and_become_runs(folder: Folder) -> None:
    write(folder)
    assert starts(folder) == hours(0, MOST_ROWS)
    assert folder.value("select next_run_at from dag where dag_id = 'own'") == START + HOUR
    schedule(folder, 3)
    assert runs(folder) == hours(0, 3)
    assert folder.value("select cursor_at from dag where dag_id = 'own'") == START + 3 * HOUR
    assert error(folder) is None


def test_a_parse_without_a_change_of_them_writes_no_interval(folder: Folder) -> None:
    write(folder)
    before = folder.conn.execute("select xmin::text, * from dag_interval").fetchall()
    write(folder, tags=("new",))
    assert folder.conn.execute("select xmin::text, * from dag_interval").fetchall() == before


def test_they_are_listed_anew_before_they_run_out(folder: Folder) -> None:
    write(folder)
    made = MOST_ROWS // 2 + 1
    advance(folder, made)
    assert len(starts(folder)) == MOST_ROWS
    pause = "update dag_evaluation set refresh_at = clock_timestamp() + interval '1 hour'"
    folder.conn.execute(pause)
    folder.parse()
    assert starts(folder)[-1] == START + (MOST_ROWS - 1) * HOUR
    evaluate_again(folder)
    # The last one that has its run stays: the timetable goes on from it.
    assert starts(folder) == hours(made - 1, MOST_ROWS + 1)
    schedule(folder, 2)
    assert runs(folder) == hours(made, 2)


def test_with_enough_of_them_nobody_is_asked(folder: Folder) -> None:
    write(folder, catchup=False)
    assert error(folder) is None
    parsed = folder.value("select parsed_at from dag_file")
    folder.conn.execute("update dag_evaluation set refresh_at = clock_timestamp()")
    due = folder.value("select refresh_at from dag_evaluation")
    folder.parse()
    assert folder.value("select parsed_at from dag_file") == parsed
    assert folder.value("select refresh_at from dag_evaluation") == due


def test_a_rare_schedule_is_asked_again_when_half_of_its_intervals_are_used_up(
    folder: Folder,
) -> None:
    """It never has as many as others, and that is no reason to import its file all the time."""
    folder.write(
        "own.py",
        FILE.format(then="", schedule="Hourly()", catchup=True, tags=[]).replace(
            "add(hours=1)", "add(years=1)"
        ),
    )
    folder.parse(paused_at_creation=False)
    listed = starts(folder)
    assert 16 <= len(listed) < MOST_ROWS // 2
    parsed = folder.value("select parsed_at from dag_file")
    evaluate_again(folder)
    assert folder.value("select parsed_at from dag_file") == parsed
    cursor = listed[len(listed) // 2 + 1]
    folder.conn.execute("update dag set cursor_at = %s where dag_id = 'own'", (cursor,))
    evaluate_again(folder)
    assert len(starts(folder)) == len(listed) + 1, "as many again, after the last one with a run"


def test_one_that_is_past_its_end_date_is_not_asked_any_more(folder: Folder) -> None:
    folder.write(
        "own.py",
        FILE.format(then="", schedule="Hourly()", catchup=True, tags=[]).replace(
            "catchup=True", "catchup=True, end_date=datetime(2024, 1, 1, 2)"
        ),
    )
    folder.parse(paused_at_creation=False)
    assert starts(folder) == hours(0, 3)
    advance(folder, 3)
    evaluate_again(folder)
    folder.conn.execute("update dag_evaluation set refresh_at = clock_timestamp()")
    with transaction(folder.conn, "test"):
        assert dag_intervals.take_low(folder.conn) == set()


def test_one_processor_takes_what_runs_low(folder: Folder) -> None:
    write(folder)
    advance(folder, MOST_ROWS // 2 + 1)
    folder.conn.execute("update dag_evaluation set refresh_at = clock_timestamp()")
    with transaction(folder.conn, "test"):
        taken = [dag_intervals.take_low(folder.conn) for _ in range(2)]
    assert [len(files) for files in taken] == [1, 0]


def test_runs_that_were_made_while_it_was_asked_are_not_made_again(folder: Folder) -> None:
    write(folder)
    said = Evaluation(tuple(Row(at, at + HOUR, at + HOUR) for at in hours(0, 8)))
    schedule(folder, 3)
    with transaction(folder.conn, "test"):
        assert dag_intervals.store(folder.conn, "own", said)
    assert starts(folder) == hours(2, 6)
    schedule(folder, 2)
    assert runs(folder) == hours(0, 5)


@pytest.mark.parametrize("then", ["raise ValueError('no calendar')", "import os; [].pop()"])
def test_when_it_fails_the_last_good_ones_stay(folder: Folder, then: str) -> None:
    write(folder)
    schedule(folder, 2)
    before = starts(folder)
    write(folder, then=then, tags=("new",))
    assert starts(folder) == before
    assert error(folder) is not None
    # The file is stored all the same, and the other DAG with it.
    assert folder.errors() == {}
    assert folder.value("select tags from dag where dag_id = 'other'") == ["new"]
    schedule(folder, 3)
    assert runs(folder) == hours(0, 5)
    write(folder)
    assert error(folder) is None
    assert starts(folder)[:2] == hours(4, 2)


def test_what_it_gave_before_it_failed_goes_on_from_the_last(folder: Folder) -> None:
    limit = "if start >= restriction.earliest.add(hours={}): raise ValueError('later')"
    write(folder, then=limit.format(4))
    assert starts(folder) == hours(0, 4)
    write(folder, then=limit.format(6))
    assert starts(folder) == hours(0, 6)
    assert error(folder) == "ValueError: later"


def test_when_it_runs_dry_there_is_a_warning_and_no_more_runs(folder: Folder) -> None:
    write(folder, then="if start >= restriction.earliest.add(hours=3): return None")
    schedule(folder, 6)
    assert runs(folder) == hours(0, 3)
    assert folder.value("select next_run_at from dag where dag_id = 'own'") is None
    (warning,) = folder.value("select warnings from dag_file")
    assert "'own'" in warning
    assert "2024-01-01T02:00:00+00:00" in warning
    assert folder.errors() == {}
    # It comes to life again when there is more.
    write(folder, then="if start >= restriction.earliest.add(hours=5): return None")
    schedule(folder, 6)
    assert runs(folder) == hours(0, 5)


def test_the_latest_only(folder: Folder) -> None:
    write(folder, catchup=False)
    schedule(folder, 5)
    (only,) = runs(folder)
    now = datetime.now(UTC)
    assert now - 2 * HOUR <= only <= now - HOUR
    assert folder.value("select next_run_at from dag where dag_id = 'own'") == only + 2 * HOUR


def test_another_timetable_goes_on_where_this_one_stood(folder: Folder) -> None:
    write(folder)
    schedule(folder, 3)
    write(folder, schedule="'@daily'")
    assert starts(folder) == []
    assert folder.value("select count(*) from dag_evaluation") == 0
    schedule(folder, 1)
    assert runs(folder)[3:] == [START + 24 * HOUR]
    write(folder)
    assert starts(folder)[0] == START + 48 * HOUR
