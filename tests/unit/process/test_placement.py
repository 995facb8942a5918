"""Code that is put side by side does what it did before."""

from __future__ import annotations

import dis
import json
import sys
import time
from collections.abc import Callable
from types import CodeType

import pytest

from flow.process import placement


def outer(number: int) -> Callable[[], list[int]]:
    def inner() -> list[int]:
        return [number + other for other in range(3)]

    return inner


def never() -> Callable[[], int]:
    return lambda: 1


def failing() -> None:
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        raise LookupError  # noqa: B904 - its context is looked at
    finally:
        time.monotonic()


def doing(code: CodeType) -> list[tuple[str, object]]:
    """What code does, without the instructions after its end that do nothing."""
    steps = [(step.opname, step.argrepr) for step in dis.get_instructions(code)]
    while steps[-1][0] == "NOP":
        steps.pop()
    return [(name, "" if "code object" in argument else argument) for name, argument in steps]


def noted() -> list[CodeType]:
    codes: list[CodeType] = []
    with placement.noting(codes):
        outer(1)()
    return codes


def test_what_is_called_is_noted_once_and_in_order() -> None:
    codes: list[CodeType] = []
    with placement.noting(codes):
        outer(1)()
        outer(2)()
    names = [code.co_name for code in codes if code.co_filename == __file__]
    assert names == ["outer", "inner", "<listcomp>"]
    outer(3)()
    assert [code.co_name for code in codes if code.co_filename == __file__] == names


def test_functions_get_copies_also_those_that_were_made_before() -> None:
    before, made_before = outer.__code__, outer(1)
    inner_before = made_before.__code__
    untouched = never.__code__
    placement.gather(noted())
    assert outer.__code__ is not before
    assert doing(outer.__code__) == doing(before)
    assert made_before.__code__ is not inner_before
    assert outer(1).__code__ is made_before.__code__
    assert never.__code__ is untouched
    assert made_before() == outer(1)() == [1, 2, 3]


def test_copies_have_few_sizes_and_differ_in_nothing_else() -> None:
    codes = [json.JSONDecoder.decode.__code__, json.loads.__code__, failing.__code__]
    copies = placement._Copies(codes)
    for code in codes:
        copy = copies.of(code)
        before, after = sys.getsizeof(code), sys.getsizeof(copy)
        if before > placement._LARGEST:
            assert after == before
        else:
            assert after % placement._STEP == 0
            assert before <= after < before + placement._STEP
        assert doing(copy) == doing(code)
        assert list(copy.co_lines()) == list(code.co_lines())
        assert copy.co_exceptiontable == code.co_exceptiontable
    original, failing.__code__ = failing.__code__, copies.of(failing.__code__)
    try:
        with pytest.raises(LookupError) as raised:
            failing()
    finally:
        failing.__code__ = original
    assert raised.traceback[-1].lineno + 1 == original.co_firstlineno + 4
    assert isinstance(raised.value.__context__, ZeroDivisionError)


def test_what_makes_functions_of_wanted_code_is_copied_with_it() -> None:
    made = never()
    codes: list[CodeType] = []
    with placement.noting(codes):
        made()
    before = never.__code__
    placement.gather([code for code in codes if code.co_name == "<lambda>"])
    assert never.__code__ is not before
    assert never().__code__ is made.__code__
    assert never()() == 1


def test_code_is_found_by_its_address_also_within_other_code() -> None:
    made = outer(1)
    addresses = [id(made.__code__), id(outer.__code__), id(object())]
    assert placement.living(addresses) == [made.__code__, outer.__code__]
