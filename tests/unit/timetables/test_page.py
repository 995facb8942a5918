"""Every example of the manual page flow-time(7) is what happens."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

import flow
from flow.authoring.serialise import to_spec
from flow.errors import InvalidDag
from flow.graph.plan import cursor_from_now, intervals, upcoming
from flow.process.ahead import evaluate
from flow.process.messages import SchedulePosition
from flow.timetables import Interval, intervals_from, parse

PAGE = Path(__file__).parents[3] / "man" / "flow-time.7.md"
BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
EXAMPLE = re.compile(
    r"schedule=(?P<schedule>.+?)(, of DAG (?P<dag_id>\w+))?, in (?P<zone>\S+), from (?P<date>\S+)"
)
NAMES = {
    "datetime": datetime,
    "timedelta": timedelta,
    **{name: getattr(flow, name) for name in flow.__all__ if name.endswith("Timetable")},
}
SEEN = datetime(2026, 3, 15, 13, 20, tzinfo=UTC)


class Example(NamedTuple):
    """A schedule, its words, and its first intervals as the page writes them."""

    dag: flow.DAG
    words: str
    lines: list[str]


def examples() -> list[Example]:
    found = []
    for block in BLOCKS:
        head, *rest = block.splitlines()
        if head.startswith("schedule="):
            parts = EXAMPLE.fullmatch(head)
            assert parts is not None, head
            dag = flow.DAG(
                parts["dag_id"] or "sales",
                schedule=eval(parts["schedule"], NAMES),
                start_date=datetime.fromisoformat(parts["date"]).replace(
                    tzinfo=ZoneInfo(parts["zone"])
                ),
            )
            found.append(Example(dag, rest[0], rest[1:]))
    return found


def test_the_class_of_your_own() -> None:
    (block,) = (one for one in BLOCKS if one.startswith("from flow.timetables.base"))
    names = {**NAMES, "DAG": flow.DAG}
    exec(block.replace("):\n    ...", ") as made:\n    ..."), names)
    made = names["made"]
    assert to_spec(made).timetable.words() == "after each workday"
    made.catchup = True
    (found,) = evaluate([made], lambda _: SchedulePosition())
    assert found.error is None
    assert [row[0].day for row in found.rows[:5]] == [1, 2, 5, 6, 7]
    assert all(row[2] == row[1] == row[0] + timedelta(days=1) for row in found.rows)


def line_of(interval: Interval, zone: ZoneInfo) -> str:
    ends = [
        one.astimezone(zone).isoformat(" ", timespec="minutes") for one in dict.fromkeys(interval)
    ]
    return " to ".join(ends)


@pytest.mark.parametrize("example", examples(), ids=lambda one: repr(one.dag.schedule))
def test_an_example_of_a_schedule(example: Example) -> None:
    spec = to_spec(example.dag)
    assert spec.timetable.words() == example.words
    assert spec.start_date is not None
    found = islice(intervals(spec, spec.start_date), len(example.lines))
    assert [line_of(one, example.dag.timezone) for one in found] == example.lines


WRITTEN = [
    line for block in BLOCKS for line in block.splitlines() if re.match(r"\w+Timetable\(", line)
]


@pytest.mark.parametrize("line", WRITTEN)
def test_what_the_page_says_can_be_written(line: str) -> None:
    assert next(intervals_from(parse(eval(line, NAMES), "UTC"), SEEN))


REFUSED = [
    line.removeprefix("refused: ")
    for block in BLOCKS
    for line in block.splitlines()
    if line.startswith("refused: ")
]


@pytest.mark.parametrize("expression", REFUSED)
def test_what_the_page_says_is_refused(expression: str) -> None:
    with pytest.raises(InvalidDag):
        parse(expression, "UTC")


ROWS = re.findall(r"^\| (2026-\S+|none) \| (.+) \| (.+) \| (.+) \|$", PAGE.read_text(), re.M)


@pytest.mark.parametrize(("start", "latest", "every", "nothing"), ROWS)
def test_what_the_table_says_is_created_at_once(
    start: str, latest: str, every: str, nothing: str
) -> None:
    for catchup, cell in ((False, latest), (True, every), ("none", nothing)):
        first = None if start == "none" else datetime.fromisoformat(start).replace(tzinfo=UTC)
        spec = to_spec(flow.DAG("d", schedule="@daily", start_date=first, catchup=catchup))
        cursor = cursor_from_now(spec, None, SEEN)
        due = []
        for planned in upcoming(spec, cursor, SEEN):
            if planned.due_at > SEEN:
                break
            due.append(f"{planned.interval.start:%Y-%m-%d}")
        assert " to ".join(dict.fromkeys((due[0], due[-1]))) == cell if due else cell == "-"


def test_the_page_has_examples_of_everything() -> None:
    assert len(examples()) > 12
    assert len(WRITTEN) == 6
    assert len(REFUSED) > 5
    assert len(ROWS) == 7
