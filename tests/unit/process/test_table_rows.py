"""Rows of a SQLite table in an interval: which forms of moments count, and what a digest means."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from flow.authoring.connection import Connection
from flow.authoring.outlets import Table
from flow.errors import UsageError
from flow.process.messages import Figures
from flow.process.table_rows import Slice, measure

ZURICH = ZoneInfo("Europe/Zurich")
DAY = Slice(
    datetime(2026, 10, 8, 22, tzinfo=UTC),
    datetime(2026, 10, 9, 22, tzinfo=UTC),
    ZURICH,
    ZURICH.key,
)
"""The ninth of October in Zurich."""


@pytest.fixture
def shop(tmp_path: Path) -> Connection:
    return Connection(conn_id="shop", conn_type="sqlite", host=str(tmp_path / "shop.db"))


def filled(shop: Connection, *moments: object) -> Figures:
    """The figures of a table that holds one row for each moment."""
    with sqlite3.connect(str(shop.host)) as conn:
        conn.execute("drop table if exists orders")
        conn.execute('create table orders (moment, "a ""b")')
        conn.executemany("insert into orders values (?, 1)", [(one,) for one in moments])
    conn.close()
    return measure(Table("shop", "orders", "moment"), shop, DAY)


@pytest.mark.parametrize(
    ("moment", "counts"),
    [
        ("2026-10-09", True),
        ("2026-10-10", False),
        ("2026-10-08", False),
        ("2026-10-09 00:00:00", True),
        ("2026-10-09T23:59:59.999", True),
        ("2026-10-08T22:00:00Z", True),
        ("2026-10-08T21:59:59+00:00", False),
        (DAY.start.timestamp(), True),
        (int(DAY.end.timestamp()), False),
        (None, False),
    ],
)
def test_a_moment_is_in_the_interval_or_not(shop: Connection, moment: object, counts: bool) -> None:
    assert filled(shop, moment).count == counts


def test_the_order_of_rows_does_not_count_and_each_copy_does(shop: Connection) -> None:
    once = filled(shop, "2026-10-09", "2026-10-09T01:00")
    assert filled(shop, "2026-10-09T01:00", "2026-10-09") == once
    thrice = filled(shop, "2026-10-09", "2026-10-09", "2026-10-09")
    assert thrice.digest not in (once.digest, filled(shop, "2026-10-09").digest)


def test_a_database_that_is_not_there_is_not_made(shop: Connection) -> None:
    with pytest.raises(UsageError, match="no database file"):
        measure(Table("shop", "orders"), shop, DAY)
    assert not Path(str(shop.host)).exists()
