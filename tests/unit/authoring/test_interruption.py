"""A stop strikes at once, or at the end of the block that holds it back."""

from __future__ import annotations

import threading

import pytest

from flow.authoring import interruption


class Struck(BaseException):
    """What a stop raises."""


def stop() -> None:
    raise Struck


def test_it_strikes_at_once_where_nothing_holds_it_back() -> None:
    with pytest.raises(Struck):
        interruption.strike(stop)


def test_in_a_block_it_waits_for_the_end_of_the_outermost_one() -> None:
    passed = []
    with pytest.raises(Struck), interruption.held_back():
        with interruption.held_back():
            interruption.strike(stop)
        passed.append("the inner one")
    assert passed == ["the inner one"]
    with interruption.held_back():
        pass  # it strikes once


def test_an_error_in_the_block_does_not_lose_it() -> None:
    with pytest.raises(Struck) as caught, interruption.held_back():
        interruption.strike(stop)
        raise OSError
    assert isinstance(caught.value.__context__, OSError)


def test_a_block_in_another_thread_holds_nothing_back() -> None:
    inside, over = threading.Event(), threading.Event()

    def work() -> None:
        with interruption.held_back():
            inside.set()
            over.wait()

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    try:
        with pytest.raises(Struck):
            interruption.strike(stop)
    finally:
        over.set()
        thread.join()
