"""The output of a task: whole, also where a signal interrupts it."""

from __future__ import annotations

import io
import os
import signal
import threading
from types import FrameType

import pytest

from flow.process.output import _AtOnce

LARGE = "x" * 1_000_000
"""More than a pipe holds."""


@pytest.fixture
def pipe() -> tuple[int, int]:
    return os.pipe()


def read_all(reader: int) -> bytes:
    with open(reader, "rb") as source:
        return source.read()


def test_a_signal_handler_may_print_while_a_print_waits(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer waits for a reader, who waits for the handler."""
    reader, writer = pipe
    stream = io.TextIOWrapper(_AtOnce(writer, "w"), encoding="utf-8", write_through=True)
    handled = threading.Event()
    read: list[bytes] = []

    def drain() -> None:
        handled.wait()
        read.append(read_all(reader))

    def handle(number: int, frame: FrameType | None) -> None:
        handled.set()
        stream.write("handled")

    draining = threading.Thread(target=drain)
    draining.start()
    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        stream.write(LARGE)
    finally:
        signal.signal(signal.SIGALRM, before)
        handled.set()
        stream.close()
        draining.join()
    (text,) = read
    assert (text.count(b"x"), text.count(b"handled")) == (len(LARGE), 1)


def test_a_descriptor_that_takes_no_more_is_an_error(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.set_blocking(writer, False)
    with open(reader, "rb"), _AtOnce(writer, "w") as stream:
        with pytest.raises(BlockingIOError) as raised:
            stream.write(LARGE.encode())
        assert 0 < raised.value.characters_written < len(LARGE)
