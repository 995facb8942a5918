"""The sales of each day, added up for each product.

Try it without a database:  flow test dags/daily_sales.py --date yesterday
Run it:                     flow up, then: flow run daily_sales
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from flow import dag, task


def total_by_product(sales: list[dict]) -> dict[str, int]:
    """How many pieces of each product were sold. Plain functions like this one are easy to test."""
    totals: Counter[str] = Counter()
    for sale in sales:
        totals[sale["product"]] += sale["pieces"]
    return dict(totals)


@dag(
    schedule="@daily",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=1)},
    tags=["example"],
)
def daily_sales():
    """Read the sales of a day, add them up, report the totals."""

    @task
    def read_sales(ds: str | None = None) -> list[dict]:
        """Stands for a query or a download; `ds` is the day of this run."""
        print(f"reading the sales of {ds}")
        return [
            {"product": "tea", "pieces": 3},
            {"product": "coffee", "pieces": 5},
            {"product": "tea", "pieces": 4},
        ]

    @task
    def add_up(sales: list[dict]) -> dict[str, int]:
        return total_by_product(sales)

    @task
    def report(totals: dict[str, int], ds: str | None = None) -> None:
        for product, pieces in sorted(totals.items()):
            print(f"{ds}: {pieces} x {product}")

    report(add_up(read_sales()))


daily_sales()
