"""What takes too long is interrupted, and leaves the process as it was."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

import pytest

from flow.process.time_limit import OutOfTime, call_within

SECONDS = 0.05


def loop() -> None:
    while True:
        pass


def loop_on() -> None:
    """Goes on after the first interrupt."""
    try:
        loop()
    except OutOfTime:
        loop()


def handled() -> tuple[object, tuple[float, float]]:
    return signal.getsignal(signal.SIGPROF), signal.getitimer(signal.ITIMER_PROF)


@pytest.mark.parametrize("call", [loop, loop_on])
def test_what_never_ends_is_interrupted(call: Callable[[], None]) -> None:
    before = handled()
    with pytest.raises(OutOfTime, match=r"it took longer than 0\.05 s of a processor"):
        call_within(SECONDS, call)
    assert handled() == before


def test_what_waits_takes_nothing_of_a_processor() -> None:
    assert call_within(SECONDS, lambda: threading.Event().wait(6 * SECONDS)) is False


def test_what_is_called_may_raise() -> None:
    before = handled()
    with pytest.raises(ZeroDivisionError):
        call_within(60.0, lambda: 1 // 0)
    assert handled() == before


def test_an_interrupt_that_comes_late_strikes_nobody() -> None:
    interrupt, (left, _) = call_within(60.0, handled)
    assert left > 0
    assert callable(interrupt)
    interrupt(signal.SIGPROF, None)


def test_in_other_threads_there_is_no_limit() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(call_within(60.0, handled)))
    thread.start()
    thread.join()
    assert found == [handled()]
