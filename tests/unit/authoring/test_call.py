"""The shape of a function against its signature: what fits at first sight can be called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from itertools import chain, combinations
from typing import Any

import pytest

from flow.operators.call import shape_of

NAMES = ("a", "b", "c", "x")


class Callee:
    def __call__(self, a: int, b: int = 1) -> None: ...

    def method(self, a: int, b: int = 1) -> None: ...


def plain(a: int, b: int = 1) -> None: ...
def by_word(a: int, *, b: int, c: int = 1) -> None: ...
def by_place(a: int, /, b: int) -> None: ...
def any_number(a: int, *b: int) -> None: ...
def any_name(a: int, **rest: int) -> None: ...
def anything(*args: int, **rest: int) -> None: ...
def nothing() -> None: ...


@functools.wraps(plain)
def wrapped(*args: Any, **rest: Any) -> None: ...


FUNCTIONS: tuple[Callable[..., None], ...] = (
    plain,
    by_word,
    by_place,
    any_number,
    any_name,
    anything,
    nothing,
    wrapped,
    functools.partial(plain, 1),
    Callee(),
    Callee().method,
)


def can_be_called(function: Callable[..., None], number: int, names: frozenset[str]) -> bool:
    try:
        inspect.signature(function).bind(*(None,) * number, **dict.fromkeys(names))
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_call_fits_exactly_when_the_signature_can_be_bound(function: Any) -> None:
    shape = shape_of(function)
    assert shape is not None
    given = chain.from_iterable(combinations(NAMES, count) for count in range(len(NAMES) + 1))
    for names in map(frozenset, given):
        for number in range(4):
            expected = can_be_called(function, number, names)
            assert shape.fits(number, names) is expected, (number, names)


def test_a_name_that_is_also_one_by_place_is_left_to_the_signature() -> None:
    def both(a: int, /, **rest: int) -> None: ...

    shape = shape_of(both)
    assert shape is not None
    assert can_be_called(both, 1, frozenset("a"))
    assert not shape.fits(1, frozenset("a"))
    assert not shape.fits(0, frozenset("a"))


def test_a_function_that_does_not_tell_has_no_shape() -> None:
    assert shape_of(dict) is None
