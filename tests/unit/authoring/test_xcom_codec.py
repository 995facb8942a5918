"""What is pushed comes back with type and value unchanged, or is refused when it is pushed."""

from __future__ import annotations

import json
import math
from collections import OrderedDict, namedtuple
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from typing import Any
from zoneinfo import ZoneInfo

import pendulum
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flow.authoring.xcom_codec import MAX_DEPTH, decode, encode
from flow.errors import InvalidXCom


def round_trip(value: Any) -> Any:
    text = encode(value, task_id="push", key="return_value")
    text.encode()
    assert "\x00" not in text
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    return decode(text)


def same(left: Any, right: Any) -> bool:
    """Equal in type and value at every depth; nan is nan, and -0.0 is not 0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return repr(left) == repr(right)
    if isinstance(left, Decimal):
        return str(left) == str(right)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return same(list(left.items()), list(right.items()))
    if isinstance(left, (set, frozenset)):
        return sorted(map(repr, left)) == sorted(map(repr, right))
    if isinstance(left, datetime):
        zones = str(left.tzinfo) == str(right.tzinfo)
        return zones and left.isoformat() == right.isoformat() and left.fold == right.fold
    return bool(left == right)


VALUES: list[Any] = [
    None,
    True,
    math.nan,
    math.inf,
    -math.inf,
    -0.0,
    5e-324,
    2**70,
    b"\x00\xff",
    datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Zurich"), fold=1),
    datetime(2026, 10, 9, 6, 0, 0, 123456, tzinfo=UTC),
    datetime(2026, 10, 9, tzinfo=timezone(timedelta(hours=5, minutes=30, seconds=1))),
    datetime(2026, 10, 9),
    pendulum.datetime(2026, 10, 9, tz="Asia/Tokyo"),
    pendulum.datetime(2026, 10, 25, 2, 30, tz="Europe/Zurich", fold=1),
    pendulum.datetime(2026, 10, 9, tz=pendulum.fixed_timezone(3600)),
    pendulum.naive(2026, 10, 9, 1, 2, 3, 4),
    date(2026, 10, 9),
    timedelta(days=-1, seconds=3, microseconds=7),
    Decimal("1.50"),
    Decimal("NaN"),
    {1, "1", (1, 2)},
    frozenset({b"x"}),
    (1, [2, (3,)]),
    {1: "a", (2, 3): {"b"}},
    {"__flow__": "bytes", "value": "AA=="},
    {"__flow__": 1},
    "\x00",
    "\udc80",
    "\ud83d\ude00",
    {"\udc80": 1},
    "x" * 1_000_000,
    [{"a": [1, 2.5, None, "ü"]}],
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert same(round_trip(value), value)


def test_two_lone_surrogates_do_not_become_one_character() -> None:
    assert len(round_trip("\ud83d\ude00")) == 2


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(exclude_categories=())),
    st.binary(),
    st.dates(),
    st.datetimes(timezones=st.none() | st.timezones() | st.just(UTC)),
    st.timedeltas(),
    st.decimals(allow_nan=False),
)
keys = st.one_of(st.text(), st.integers(), st.just("__flow__"), st.tuples(st.integers()))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(keys, inner),
        st.sets(st.integers() | st.text()),
    ),
    max_leaves=20,
)


@settings(max_examples=500)
@given(values)
def test_any_value_comes_back_as_it_was(value: Any) -> None:
    assert same(round_trip(value), value)


class Colour(IntEnum):
    RED = 1


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda: 1, ["builtins.function"]),
        ([{"a": object()}], ["builtins.object", "value[0]['a']"]),
        (OrderedDict(a=1), ["collections.OrderedDict", "dict(value)"]),
        (Point(1, 2), ["Point", "tuple(value)"]),
        ([Colour.RED], ["Colour", "int(value)", "value[0]"]),
        (10**5000, ["digits"]),
        (pendulum.duration(days=1), ["total_seconds()"]),
    ],
    ids=["lambda", "nested", "OrderedDict", "namedtuple", "enum", "huge int", "duration"],
)
def test_a_type_that_cannot_be_kept_is_refused_by_name(value: Any, words: list[str]) -> None:
    with pytest.raises(InvalidXCom) as caught:
        encode(value, task_id="push", key="report")
    said = f"{caught.value.message} {caught.value.hint}"
    assert all(word in said for word in ["'push'", "'report'", *words])
    assert caught.value.hint


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InvalidXCom, match="contains itself"):
        encode(loop, task_id="push", key="x")


def test_the_deepest_legal_value_can_be_read() -> None:
    value: Any = ()
    for _ in range(MAX_DEPTH - 1):
        value = (value,)
    assert round_trip(value) == value


@pytest.mark.parametrize("text", ["{", '{"__flow__": "later"}', '{"__flow__": "bytes"}'])
def test_text_that_is_no_xcom_is_an_explained_error(text: str) -> None:
    with pytest.raises(InvalidXCom, match="cannot be read"):
        decode(text)
