"""The line does what it says, between a client and a server that answers COMMIT to all it hears."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos.answers import Answers
from chaos.line import Exchange, Line
from waiting import limit, wait_until

COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"
READY = b"Z\x00\x00\x00\x05I"


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    server = socket.create_server(str(tmp_path / "s"), family=socket.AF_UNIX)
    threading.Thread(target=_serve, args=(server,), daemon=True).start()
    exchange = Exchange(lambda: tmp_path / "s")
    yield exchange.line()
    exchange.close()
    server.close()


def _serve(server: socket.socket) -> None:
    sessions = []
    while True:
        try:
            session, _ = server.accept()
        except OSError:
            return
        sessions.append(session)
        threading.Thread(target=_answer, args=(session,), daemon=True).start()


def _answer(session: socket.socket) -> None:
    with session:
        try:
            while session.recv(1024):
                session.sendall(COMMITTED + READY)
        except OSError:
            return


def connect(line: Line) -> socket.socket:
    port = int(line.url.rpartition(":")[2].partition("/")[0])
    client = socket.create_connection(("127.0.0.1", port))
    client.settimeout(limit(10))
    return client


def ask(client: socket.socket) -> bytes:
    """What comes back until the server is ready, or until the session ends."""
    found = b""
    try:
        client.sendall(b"commit")
        while not found.endswith(READY) and (piece := client.recv(1024)):
            found += piece
    except ConnectionError:
        pass  # it was cut
    return found


def test_an_ordinary_line(line: Line) -> None:
    with connect(line) as client:
        assert ask(client) == COMMITTED + READY


def test_cut_and_mended(line: Line) -> None:
    with connect(line) as client:
        ask(client)
        line.cut()
        assert ask(client) == b""
    with connect(line) as refused:
        assert ask(refused) == b""
    line.mend()
    with connect(line) as again:
        assert ask(again) == COMMITTED + READY


def test_stalled_and_mended(line: Line) -> None:
    with connect(line) as client:
        ask(client)
        line.stall()
        client.sendall(b"commit")
        client.settimeout(0.3)
        with pytest.raises(TimeoutError):
            client.recv(1024)
        line.mend()
        client.settimeout(limit(10))
        assert client.recv(1024)


def test_robbed_of_one_answer(line: Line) -> None:
    with connect(line) as client:
        ask(client)
        line.rob()
        assert ask(client) == b""
        wait_until(lambda: line.robbed == 1, "the lost answer to be counted")
    with connect(line) as again:
        assert ask(again) == COMMITTED + READY


def test_answers_are_put_together_from_pieces() -> None:
    answers = Answers()
    whole = READY + COMMITTED + READY
    got = b"".join(answers.take(whole[n : n + 1], rob=False)[0] for n in range(len(whole)))
    assert got == whole
    assert answers.take(whole, rob=True) == (READY, True)
