"""Tests of the daily_sales pipeline; run them with pytest in the project folder."""

import runpy
from pathlib import Path

PIPELINE = Path(__file__).parent.parent / "dags" / "daily_sales.py"


def test_pieces_are_added_up_for_each_product():
    total_by_product = runpy.run_path(str(PIPELINE))["total_by_product"]
    sales = [
        {"product": "tea", "pieces": 3},
        {"product": "coffee", "pieces": 5},
        {"product": "tea", "pieces": 4},
    ]
    assert total_by_product(sales) == {"tea": 7, "coffee": 5}
