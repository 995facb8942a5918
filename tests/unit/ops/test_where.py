"""Conditions as text over the fields of rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from flow.errors import UsageError
from flow.ops.where import Words, fields_of, parse

NOW = datetime(2026, 10, 9, 12, tzinfo=UTC)


class Row(NamedTuple):
    dag_id: str
    state: str
    version: int
    tags: list[str]
    started_at: datetime | None
    note: str | None
    cost: float | None
    paused: bool


ROW = Row(
    dag_id="sales_eu",
    state="failed",
    version=3,
    tags=["nightly", "eu"],
    started_at=datetime(2026, 10, 8, 22, 30, tzinfo=UTC),
    note=None,
    cost=1.5,
    paused=False,
)


def fits(text: str, row: Row = ROW, zone: str = "UTC") -> bool:
    return parse(text, fields_of(Row, ZoneInfo(zone), NOW))(row._asdict())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("state=failed", True),
        ("state = failed", True),
        ("state=success", False),
        ("state=success,failed", True),
        ("state!=success", True),
        ("state!=success,failed", False),
        ("state=failed and dag~sales_*", True),
        ("state=failed and dag~etl_*", False),
        ("dag~etl_*,sales_?u", True),
        ("dag!~etl_*", True),
        ("state=success or version=3", True),
        ("state=success or version=3 and paused=true", False),
        ("(state=success or version=3) and paused=false", True),
        ("not state=failed", False),
        ("not (state=success and version=3)", True),
        ("version<4", True),
        ("version<=2", False),
        ("version>=3", True),
        ("cost>1.4", True),
        ("tags=eu", True),
        ("tags!=eu", False),
        ("tags~night*", True),
        ("note=null", True),
        ("note!=null", False),
        ("note~*", False),
        ("note<x", False),
        ('dag="sales_eu"', True),
        ("dag='sales_eu, x'", False),
        ("started_at=2026-10-08", True),
        ("started_at=2026-10-08T22:30", True),
        ("started_at=2026-10-08T22:31", False),
        ("started_at<2026-10-08", False),
        ("started_at<=2026-10-08", True),
        ("started_at>2026-10-08", False),
        ("started_at>=2026-10-08", True),
        ("started_at>2026-10-07", True),
        ("started_at>-1d", False),
        ("started_at>=-1d", True),
        ("started_at>-24h", True),
    ],
)
def test_what_fits(text: str, expected: bool) -> None:
    assert fits(text) is expected


def test_a_day_is_one_of_the_zone() -> None:
    assert fits("started_at=2026-10-09", zone="Europe/Zurich")
    assert not fits("started_at=2026-10-08", zone="Europe/Zurich")
    later = ROW._replace(started_at=ROW.started_at and ROW.started_at + timedelta(hours=23))
    assert fits("started_at=2026-10-09", later)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a field is missing"),
        ("state", "after 'state' an operator is missing"),
        ("state=", "after state= a value is missing"),
        ("state=a state=b", "'state' does not belong there"),
        ("(state=a", "a `)` is missing"),
        ("state=a)", "')' does not belong there"),
        ("and state=a", "after 'and' an operator is missing"),
        ("version=three", "'three' is not a number"),
        ("version~3", "version is not a text"),
        ("version<1,2", "version< takes one value"),
        ("paused=maybe", "'maybe' is neither true nor false"),
        ('state="a', "cannot be read"),
        ("started_at>soon", "'soon' is not a date"),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        fits(text)
    assert message in caught.value.message


WORDS: Words = {"state": ("queued", "failed"), "task.state": ("failed", "skipped")}


@pytest.mark.parametrize("text", ["state=queued,failed", "state!=queued", "state~fail*,*ed"])
def test_a_field_of_few_words_is_asked_for_one_of_them(text: str) -> None:
    assert parse(text, fields_of(Row, UTC, NOW, WORDS))(ROW._asdict())


@pytest.mark.parametrize(
    ("text", "value", "more"),
    [
        ("state=bogus", "bogus", ""),
        ("dag~sales* and not (state!=failed,faild)", "faild", ""),
        ("state~succ*", "succ*", ""),
        ("state=null", "null", ""),
        ('state="failed,queued"', "failed,queued", ""),
        ("state=skipped", "skipped", "; task.state may be skipped"),
    ],
)
def test_another_word_is_refused_with_those_that_there_are(
    text: str, value: str, more: str
) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text, fields_of(Row, UTC, NOW, WORDS))
    assert caught.value.message == f"state is never {value!r}"
    assert caught.value.hint == f"it is one of queued, failed{more}"


def test_an_unknown_field_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        fits("stat=failed")
    assert caught.value.message == "there is no field 'stat' to ask for"
    assert caught.value.hint == "did you mean state?"
