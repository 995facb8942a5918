"""A child's end of the line, under interruptions that user code may cause."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import msgspec
import pytest

from flow.errors import ProtocolError
from flow.process.channel import Channel
from flow.process.messages import FromChild, GetVariable, PushXCom, Value
from flow.process.wire import Line, encode
from waiting import wait_until


class Interrupt(Exception):
    """What a handler raises."""


@pytest.fixture
def ends() -> Iterator[tuple[Channel, socket.socket]]:
    ours, theirs = socket.socketpair()
    yield Channel(ours), theirs
    ours.close()
    theirs.close()


@pytest.fixture
def on_alarm() -> Iterator[Callable[[Callable[[], None]], None]]:
    """Sets what happens at SIGUSR1 in the main thread."""
    before = signal.getsignal(signal.SIGUSR1)

    def set_handler(act: Callable[[], None]) -> None:
        def handle(number: int, frame: FrameType | None) -> None:
            act()

        signal.signal(signal.SIGUSR1, handle)

    yield set_handler
    signal.signal(signal.SIGUSR1, before)


def ask(channel: Channel, key: str) -> str:
    answer = channel.ask(GetVariable(key=key))
    assert isinstance(answer, Value)
    return answer.value


def raise_interrupt() -> None:
    raise Interrupt


def interrupt_when(condition: Callable[[], object]) -> threading.Thread:
    def wait_and_interrupt() -> None:
        wait_until(condition, "the moment to interrupt")
        os.kill(os.getpid(), signal.SIGUSR1)

    thread = threading.Thread(target=wait_and_interrupt)
    thread.start()
    return thread


def in_poll() -> bool:
    """Whether the main thread waits in poll(2)."""
    pid = os.getpid()
    with open(f"/proc/{pid}/task/{pid}/wchan") as file:
        return "poll" in file.read()


@pytest.fixture
def supervisor(
    ends: tuple[Channel, socket.socket],
) -> Iterator[Callable[[], list[FromChild]]]:
    """Reads what was asked so far."""
    line = Line(ends[1], msgspec.msgpack.Decoder(FromChild), name="host")
    asked: list[FromChild] = []

    def read() -> list[FromChild]:
        asked.extend(line.receive())
        return asked

    yield read


def test_an_interrupted_request_does_not_leave_its_answer_to_the_next(
    ends: tuple[Channel, socket.socket],
    supervisor: Callable[[], list[FromChild]],
    on_alarm: Callable[[Callable[[], None]], None],
) -> None:
    channel, peer = ends
    on_alarm(raise_interrupt)
    thread = interrupt_when(lambda: len(supervisor()) == 1)
    with pytest.raises(Interrupt):
        ask(channel, "first")
    thread.join()
    peer.sendall(encode(Value(value="to the first")) + encode(Value(value="to the second")))
    assert ask(channel, "second") == "to the second"


def test_a_half_sent_message_is_completed_by_the_next(
    ends: tuple[Channel, socket.socket],
    supervisor: Callable[[], list[FromChild]],
    on_alarm: Callable[[Callable[[], None]], None],
) -> None:
    channel, peer = ends
    on_alarm(raise_interrupt)
    thread = interrupt_when(in_poll)
    large = PushXCom(key="k", value="x" * 2_000_000)
    with pytest.raises(Interrupt):
        channel.ask(large)
    thread.join()

    def answer() -> None:
        wait_until(lambda: supervisor() == [large, GetVariable(key="second")], "both messages")
        peer.setblocking(True)
        peer.sendall(encode(Value(value="one")) + encode(Value(value="two")))

    answerer = threading.Thread(target=answer)
    answerer.start()
    assert ask(channel, "second") == "two"
    answerer.join()


def test_a_handler_cannot_ask_in_the_middle_of_a_request(
    ends: tuple[Channel, socket.socket],
    supervisor: Callable[[], list[FromChild]],
    on_alarm: Callable[[Callable[[], None]], None],
) -> None:
    channel, peer = ends
    refused: list[str] = []

    def ask_too() -> None:
        try:
            ask(channel, "from the handler")
        except ProtocolError as error:
            refused.append(error.message)
        peer.sendall(encode(Value(value="answer")))

    on_alarm(ask_too)
    thread = interrupt_when(lambda: len(supervisor()) == 1)
    assert ask(channel, "outer") == "answer"
    thread.join()
    assert ["middle of a request" in message for message in refused] == [True]
    # Between requests it can.
    peer.sendall(encode(Value(value="later")))
    assert ask(channel, "inner") == "later"


def test_an_interruption_at_the_worst_moment_is_an_error_not_a_mix_up(
    ends: tuple[Channel, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, peer = ends
    peer.sendall(encode(Value(value="old")))

    class Torn(bytearray):
        def __iadd__(self, data: object) -> Torn:
            raise Interrupt

    monkeypatch.setattr(channel, "_incoming", Torn())
    with pytest.raises(Interrupt):
        ask(channel, "first")
    monkeypatch.undo()
    with pytest.raises(ProtocolError, match="lost count"):
        ask(channel, "second")


def test_a_channel_says_that_the_supervisor_is_gone(ends: tuple[Channel, socket.socket]) -> None:
    channel, peer = ends
    peer.sendall(b"\0\0")
    peer.close()
    for _ in range(2):
        with pytest.raises(ProtocolError, match="gone"):
            ask(channel, "k")
