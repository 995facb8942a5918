"""The till of a small shop: the orders of a day, the same ones however often it is asked.

python till.py 2026-10-09 2026-10-10    prints what a correct load of these days adds up to
"""

from __future__ import annotations

import json
import random
import sys
from typing import NamedTuple

PRICES = {"tea": 450, "coffee": 380, "cake": 520, "sandwich": 640, "juice": 410}
"""Cents for a piece."""


class Order(NamedTuple):
    number: int
    product: str
    pieces: int
    amount_cents: int


def orders_of(day: str) -> list[Order]:
    """All orders of a day (2026-10-09), numbered from 1."""
    chance = random.Random(day)
    orders = []
    for number in range(1, chance.randint(3_600, 4_400) + 1):
        product = chance.choice(list(PRICES))
        pieces = chance.randint(1, 4)
        orders.append(Order(number, product, pieces, pieces * PRICES[product]))
    return orders


def totals_of(day: str) -> dict:
    orders = orders_of(day)
    return {"orders": len(orders), "revenue_cents": sum(order.amount_cents for order in orders)}


if __name__ == "__main__":
    print(json.dumps({day: totals_of(day) for day in sys.argv[1:]}))
