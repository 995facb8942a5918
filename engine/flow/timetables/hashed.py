"""`H` in cron fields: a value that a DAG's id chooses, so that DAGs do not all start at once.

| term | means |
|---|---|
| `H` | one value of the field, always the same for this DAG |
| `H(0-29)` | one value of that range |
| `H/15` | every 15, from a first value below 15 on |
| `H(0-29)/10` | the same within a range |

The values are minutes 0-59, hours 0-23, days of the month 1-28 (every month has them), months 1-12,
days of the week 0-6. Each field has a hash of its own: the first eight bytes of the SHA-256 of
`FIELD:DAG_ID`, read as one number, highest byte first, modulo how many values there are. `H` is
replaced by numbers before anything else is looked at, so all other rules apply to these numbers.
"""

from __future__ import annotations

import re
from hashlib import sha256

from flow.errors import InvalidDag

_RANGES = {
    "minute": (0, 59),
    "hour": (0, 23),
    "day": (1, 28),
    "month": (1, 12),
    "weekday": (0, 6),
}
_TERM = re.compile(r"[Hh](?:\((?P<low>\d{1,2})-(?P<high>\d{1,2})\))?(?:/(?P<step>\d{1,2}))?")
_HINT = "write H, H(0-29), H/15 or H(0-29)/10, within the values of the field"


def settle(expression: str, dag_id: str) -> str:
    """The expression with numbers for every `H`. Raises `InvalidDag` for one that is malformed."""
    fields = expression.split()
    if len(fields) != len(_RANGES) or not any("h" in field.lower() for field in fields):
        return expression
    return " ".join(
        ",".join(
            _settled(expression, name, term, dag_id) if term[:1] in ("H", "h") else term
            for term in field.split(",")
        )
        for name, field in zip(_RANGES, fields, strict=True)
    )


def _settled(expression: str, name: str, term: str, dag_id: str) -> str:
    lowest, highest = _RANGES[name]
    found = _TERM.fullmatch(term)
    if found is None:
        raise _refusal(expression, name, term)
    low, high = int(found["low"] or lowest), int(found["high"] or highest)
    size = high - low + 1
    if low < lowest or high > highest or size < 1:
        raise _refusal(expression, name, term)
    number = int.from_bytes(sha256(f"{name}:{dag_id}".encode()).digest()[:8], "big")
    if found["step"] is None:
        return str(low + number % size)
    step = int(found["step"])
    if not 1 <= step <= size:
        raise _refusal(expression, name, term)
    return f"{low + number % step}-{high}/{step}"


def _refusal(expression: str, name: str, term: str) -> InvalidDag:
    lowest, highest = _RANGES[name]
    return InvalidDag(
        f"schedule {expression!r}: {term!r} in the {name} field is no hashed value; accepted are "
        f"values {lowest} to {highest}",
        _HINT,
    )
