"""`flow dags next`: whole output, for people and for programs."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from flow.timetables.trigger import MultipleCronTriggerTimetable

GAP = """\
RUN AT                     INTERVAL FROM              TO
2024-03-10T03:30:00-05:00  2024-03-09T02:30:00-06:00  2024-03-10T03:30:00-05:00
2024-03-11T02:30:00-05:00  2024-03-10T03:30:00-05:00  2024-03-11T02:30:00-05:00
"""


def test_people_get_a_table_in_the_dags_zone_and_the_schedule_in_words(world, flow):
    start = datetime(2024, 3, 8, tzinfo=UTC)
    world.define("gap", schedule="30 2 * * *", timezone="America/Chicago", start_date=start)
    ended = flow("dags", "next", "gap", "--from", "2024-03-09", "-n", "2")
    assert (ended.code, ended.out) == (0, GAP)
    assert ended.err == "gap: every day at 02:30 America/Chicago\n"


def test_programs_get_a_list_in_utc_and_nothing_else(world, flow):
    crons = MultipleCronTriggerTimetable("0 8 * * *", "0 8,9 1 * *")
    world.define("sales", schedule=crons, start_date=datetime(2100, 1, 1, tzinfo=UTC), paused=True)
    ended = flow("dags", "next", "sales", "-n", "3", "-o", "json")
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == [
        {"data_interval_start": tick, "data_interval_end": tick, "run_at": tick}
        for tick in (
            "2100-01-01T08:00:00Z",
            "2100-01-01T09:00:00Z",
            "2100-01-02T08:00:00Z",
        )
    ]
    lines = flow("dags", "next", "sales", "-n", "3", "-o", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == json.loads(ended.out)


def test_what_keeps_runs_from_being_created_is_said(world, flow):
    world.define("sales", schedule="@daily", paused=True)
    ended = flow("dags", "next", "sales")
    assert ended.out.count("\n") == 11
    assert "it is paused: no run is created before `flow dags unpause sales`" in ended.err
    world.define("stock", schedule=None, file="/dags/two.py")
    ended = flow("dags", "next", "stock")
    assert (ended.out, ended.err) == ("", "stock: no schedule\nno next runs\n")
