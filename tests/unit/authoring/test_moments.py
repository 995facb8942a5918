"""The time zone of a DAG, and its dates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pendulum
import pytest

from flow import DAG
from flow.authoring.serialise import to_spec
from flow.errors import InvalidDag

ZURICH = ZoneInfo("Europe/Zurich")


def hours(number: float) -> timezone:
    return timezone(timedelta(hours=number))


@pytest.mark.parametrize(
    ("start", "zone", "moment"),
    [
        (None, "UTC", None),
        (datetime(2024, 7, 1), "UTC", "2024-07-01T00:00:00+00:00"),
        (datetime(2024, 7, 1, tzinfo=UTC), "UTC", "2024-07-01T00:00:00+00:00"),
        (datetime(2024, 7, 1, tzinfo=ZURICH), "Europe/Zurich", "2024-06-30T22:00:00+00:00"),
        (datetime(2024, 1, 1, tzinfo=ZURICH), "Europe/Zurich", "2023-12-31T23:00:00+00:00"),
        (
            pendulum.datetime(2024, 7, 1, tz="Europe/Zurich"),
            "Europe/Zurich",
            "2024-06-30T22:00:00+00:00",
        ),
        (pendulum.datetime(2024, 7, 1), "UTC", "2024-07-01T00:00:00+00:00"),
        (datetime(2024, 7, 1, tzinfo=hours(0)), "UTC", "2024-07-01T00:00:00+00:00"),
        (datetime(2024, 7, 1, tzinfo=hours(2)), "Etc/GMT-2", "2024-06-30T22:00:00+00:00"),
        (datetime(2024, 7, 1, tzinfo=hours(-5)), "Etc/GMT+5", "2024-07-01T05:00:00+00:00"),
        (pendulum.parse("2024-07-01T00:00:00+02:00"), "Etc/GMT-2", "2024-06-30T22:00:00+00:00"),
        ("2024-07-01", "UTC", "2024-07-01T00:00:00+00:00"),
        ("2024-07-01T03:00:00+03:00", "Etc/GMT-3", "2024-07-01T00:00:00+00:00"),
    ],
)
def test_zone_and_start(start, zone: str, moment: str | None) -> None:
    spec = to_spec(DAG("d", start_date=start, schedule="@daily"))
    assert (spec.timezone, spec.timetable.timezone) == (zone, zone)
    assert spec.start_date == (moment and datetime.fromisoformat(moment))
    assert type(spec.start_date) in (datetime, type(None))


class Nameless(tzinfo):
    def utcoffset(self, when: datetime | None) -> timedelta:
        return timedelta(hours=1 if when is None or when.month < 4 else 2)


@pytest.mark.parametrize(
    ("zone", "message"),
    [
        (hours(5.5), "fixed offset 5:30:00"),
        (hours(15), "fixed offset"),
        (Nameless(), "has no name"),
    ],
)
def test_zones_that_name_no_rules(zone: tzinfo, message: str) -> None:
    with pytest.raises(InvalidDag, match=message) as caught:
        DAG("d", start_date=datetime(2024, 1, 1, tzinfo=zone))
    assert "zoneinfo.ZoneInfo(" in caught.value.hint


def test_a_naive_end_is_in_the_zone_of_the_start() -> None:
    dag = DAG("d", start_date=datetime(2024, 1, 1, tzinfo=ZURICH), end_date=datetime(2024, 7, 1))
    assert to_spec(dag).end_date == datetime(2024, 6, 30, 22, tzinfo=UTC)


def test_dates_of_default_args_are_those_of_the_dag() -> None:
    dag = DAG(
        "d",
        default_args={"start_date": datetime(2024, 1, 1, tzinfo=ZURICH), "end_date": "2025-01-01"},
    )
    spec = to_spec(dag)
    assert spec.timezone == "Europe/Zurich"
    assert spec.start_date == datetime(2023, 12, 31, 23, tzinfo=UTC)
    assert spec.end_date == datetime(2024, 12, 31, 23, tzinfo=UTC)
