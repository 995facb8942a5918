"""A small shop's night: fetch the day's orders, load them into the warehouse, check, report.

Each run belongs to one day. A run may be repeated at any time: it replaces its own day and touches
no other, so a night that failed is simply run again.
"""

from __future__ import annotations

import csv
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

import psycopg
from till import PRICES, orders_of

from flow import Connection, Variable, dag, task, task_group

BATCH = 250


def warehouse() -> psycopg.Connection:
    """A login to the warehouse. Used with `with` it is one transaction: all of it, or nothing."""
    conn = Connection.get("warehouse")
    return psycopg.connect(
        host=conn.host,
        port=conn.port,
        dbname=conn.schema,
        user=conn.login,
        password=conn.password,
    )


@dag(
    schedule="@daily",
    start_date=datetime(2026, 1, 1),
    catchup=True,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=1)},
    tags=["example"],
)
def shop_nightly():
    """Orders of a day: extract, load, check, report."""

    @task
    def extract(ds: str) -> str:
        """Fetch the orders of the day into a file of the landing folder."""
        orders = orders_of(ds)
        file = Path(Variable.get("landing"), f"orders-{ds}.csv")
        partial = file.with_suffix(".partial")
        with partial.open("w", newline="") as rows:
            csv.writer(rows).writerows(orders)
        partial.rename(file)  # there is no half-written file of that name, ever
        print(f"{len(orders)} orders of {ds} are in {file}")
        return str(file)

    @task(execution_timeout=timedelta(minutes=5))
    def load(file: str, ds: str) -> int:
        """Replace the day's partition by what is in the file, in one transaction."""
        loaded = 0
        with warehouse() as conn, conn.cursor() as cursor, open(file, newline="") as rows:
            cursor.execute("DELETE FROM orders WHERE day = %s", [ds])
            print(f"{ds}: {cursor.rowcount} rows of an earlier load removed")
            orders = csv.reader(rows)
            while batch := [(ds, *order) for order in islice(orders, BATCH)]:
                cursor.executemany("INSERT INTO orders VALUES (%s, %s, %s, %s, %s)", batch)
                loaded += len(batch)
                print(f"{ds}: {loaded} orders")
        return loaded

    def count(condition: str, ds: str, *values: object) -> int:
        with warehouse() as conn:
            query = f"SELECT count(*) FROM orders WHERE day = %s AND {condition}"
            return conn.execute(query, [ds, *values]).fetchone()[0]

    @task_group
    def checks(loaded: int) -> None:
        """What must be true of a loaded day; all of them are looked at side by side."""

        @task
        def complete(loaded: int, ds: str) -> None:
            found = count("true", ds)
            if found != loaded:
                raise ValueError(f"{ds} has {found} orders, {loaded} were loaded")

        @task
        def numbers_without_gaps(ds: str) -> None:
            with warehouse() as conn:
                gaps = conn.execute(
                    "SELECT max(number) - count(*) FROM orders WHERE day = %s", [ds]
                ).fetchone()[0]
            if gaps:
                raise ValueError(f"{ds} misses {gaps} order numbers")

        @task
        def no_negative_amounts(ds: str) -> None:
            if found := count("amount_cents < 0", ds):
                raise ValueError(f"{ds} has {found} orders with a negative amount")

        @task
        def known_products(ds: str) -> None:
            if found := count("product <> ALL (%s)", ds, list(PRICES)):
                raise ValueError(f"{ds} has {found} orders of unknown products")

        complete(loaded)
        loaded >> [numbers_without_gaps(), no_negative_amounts(), known_products()]

    @task
    def report(ds: str) -> None:
        """Write down the day's totals, in place of those of an earlier run of the day."""
        with warehouse() as conn:
            orders, cents = conn.execute(
                "INSERT INTO daily_report"
                " SELECT day, count(*), sum(amount_cents) FROM orders WHERE day = %s GROUP BY day"
                " ON CONFLICT (day) DO UPDATE SET orders = excluded.orders,"
                " revenue_cents = excluded.revenue_cents"
                " RETURNING orders, revenue_cents",
                [ds],
            ).fetchone()
        print(f"{ds}: {orders} orders, {cents / 100:,.2f} in all")

    checks(load(extract())) >> report()


shop_nightly()
