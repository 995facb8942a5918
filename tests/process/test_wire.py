"""Framing: pieces of messages, messages in pieces, descriptors, limits, peers that are gone."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.errors import ProtocolError
from flow.process.messages import (
    Done,
    FromChild,
    GetVariable,
    PushXCom,
    Start,
    Stop,
    ToChild,
    ToZygote,
    Value,
)
from flow.process.wire import Line, encode

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


def child_line(end: socket.socket, limit: int = 1_000_000) -> Line[FromChild]:
    return Line(end, msgspec.msgpack.Decoder(FromChild), name="host", limit=limit)


def zygote_line(end: socket.socket) -> Line[ToZygote]:
    return Line(end, msgspec.msgpack.Decoder(ToZygote), name="zygote", take_descriptors=True)


messages = st.lists(
    st.one_of(
        st.builds(GetVariable, key=st.text(max_size=20)),
        st.builds(PushXCom, key=st.text(max_size=5), value=st.text(max_size=300)),
    ),
    max_size=8,
)


@given(messages, st.lists(st.integers(1, 50)))
def test_messages_arrive_however_they_are_cut(sent: list[FromChild], cuts: list[int]) -> None:
    data = b"".join(encode(message) for message in sent)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = child_line(ours)
        received = []
        for cut in cuts:
            theirs.sendall(data[:cut])
            data = data[cut:]
            received += line.receive()
        theirs.sendall(data)
        received += line.receive_all()
        assert received == sent
        assert not line.ended
        theirs.close()
        assert line.receive_all() == []
        assert line.ended


def test_a_line_does_not_block_on_a_peer_that_does_not_read(pair: Pair) -> None:
    ours, theirs = pair
    line = child_line(ours)
    values = [Value(value=f"{number}" * 50_000) for number in range(30)]
    for value in values:
        line.send(value)
    assert line.pending
    peer = Line(theirs, msgspec.msgpack.Decoder(ToChild), name="child")
    answers = []
    while line.pending:
        line.flush()
        answers += peer.receive_all()
    assert answers == values


def test_descriptors_stay_with_their_messages(pair: Pair) -> None:
    ours, theirs = pair
    sender = child_line(ours)
    receiver = zygote_line(theirs)
    for number in range(5):
        read_end, write_end = os.pipe()
        os.write(write_end, b"%d" % number)
        os.close(write_end)
        sender.send(Stop(job_id=number, grace=1.0))
        sender.send(Start(job_id=number, job=b"x" * 20_000), (read_end,))
    while sender.pending:
        sender.flush()
    starts = [message for message in receiver.receive_all() if isinstance(message, Start)]
    assert [start.job_id for start in starts] == list(range(5))
    for start in starts:
        descriptor = receiver.take_descriptor()
        assert os.read(descriptor, 10) == b"%d" % start.job_id
        assert not os.get_inheritable(descriptor)
        os.close(descriptor)
    with pytest.raises(ProtocolError):
        receiver.take_descriptor()


def test_descriptors_that_nobody_asked_for_are_not_taken(pair: Pair) -> None:
    ours, theirs = pair
    line = child_line(ours)
    before = len(os.listdir("/proc/self/fd"))
    with open(os.devnull) as file:
        socket.send_fds(theirs, [encode(GetVariable(key="k"))], [file.fileno()] * 10)
    assert line.receive() == [GetVariable(key="k")]
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_dead_peer_is_no_error_for_who_sends(pair: Pair) -> None:
    ours, theirs = pair
    line = child_line(ours)
    theirs.close()
    read_end, write_end = os.pipe()
    os.close(write_end)
    line.send(Stop(job_id=1, grace=0.0), (read_end,))
    assert not line.pending
    with pytest.raises(OSError):
        os.fstat(read_end)
    assert line.receive() == []
    assert line.ended


def test_what_came_before_a_violation_counts(pair: Pair) -> None:
    ours, theirs = pair
    line = child_line(ours)
    good = encode(GetVariable(key="k"))
    theirs.sendall(good + encode(Done()) + good)
    assert line.receive() == [GetVariable(key="k")]
    assert line.violation is not None
    theirs.sendall(good)
    assert line.receive() == []


def test_sizes_are_refused_on_both_sides(pair: Pair) -> None:
    ours, theirs = pair
    line = child_line(ours, limit=100)
    with pytest.raises(ProtocolError, match=r"message of 1\d\d bytes .* limit of 100 bytes"):
        line.send(Value(value="x" * 100))
    assert not line.pending
    theirs.sendall((101).to_bytes(4, "big"))
    assert line.receive() == []
    assert "101 bytes" in str(line.violation)
