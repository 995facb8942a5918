"""Nobody waits for the database for ever, whether the line is open or not."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from flow.store import connect as module
from flow.store import notify
from flow.store.connect import Conn, LineStalled, connect, shorten_waits, transaction
from flow.store.notify import WAKE, Listener, Notifier
from postgres import PostgresServer
from support.stalling_proxy import StallingProxy
from waiting import limit, wait_until

PATIENCE = limit(0.3)
"""Of a connection, in seconds: soon over, and enough for an answer that is on its way."""
ON_THE_WAY = 0.2


@pytest.fixture
def line(
    server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StallingProxy]:
    folder = tmp_path_factory.mktemp("l")
    with StallingProxy(folder, server.embedded.socket_directory) as made:
        yield made


@pytest.fixture
def dsn(line: StallingProxy, direct: str) -> str:
    """The fresh database through the line."""
    return make_conninfo(direct, host=str(line.folder))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ON_THE_WAY", ON_THE_WAY)
    monkeypatch.setattr(module, "_longest", module._longest)


def test_a_stalled_line_is_given_up_and_closed(line: StallingProxy, dsn: str) -> None:
    with connect(dsn, name="test", patience=PATIENCE) as conn:
        assert conn.execute("select 1").fetchone() == (1,)
        line.stall()
        with pytest.raises(LineStalled, match=f"no answer within {PATIENCE + ON_THE_WAY:g} s"):
            conn.execute("select 1")
        assert conn.closed


@pytest.mark.parametrize("when", ["begin", "commit"])
def test_a_transaction_ends_without_waiting_for_its_rollback(
    line: StallingProxy, dsn: str, when: str
) -> None:
    with connect(dsn, name="test", patience=PATIENCE) as conn:
        with pytest.raises(LineStalled), transaction(conn, "test"):
            if when == "begin":  # it travels with the first statement
                line.stall()
            conn.execute("select 1")
            line.stall()
        assert conn.closed


def test_the_patience_of_a_transaction_is_its_own(connection: Conn) -> None:
    connection.patience = PATIENCE
    with transaction(connection, "test", statement_timeout=60):
        connection.execute("select pg_sleep(%s)", (PATIENCE + 2 * ON_THE_WAY,))
    with pytest.raises(psycopg.errors.QueryCanceled), transaction(connection, "test"):
        connection.execute("select pg_sleep(60)")
    assert connection.execute("select 1").fetchone() == (1,)
    assert connection.patience == PATIENCE


def test_who_is_to_end_gives_up_what_it_waits_for(line: StallingProxy, dsn: str) -> None:
    with connect(dsn, name="test") as conn:
        line.stall()
        given_up: list[Exception] = []

        def wait() -> None:
            try:
                conn.execute("select 1")
            except LineStalled as error:
                given_up.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        shorten_waits(0.1)
        waiting.join(limit(10))
        assert len(given_up) == 1


def test_a_listener_notices_that_its_line_stands_still(
    line: StallingProxy, dsn: str, database: str, connection: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "SILENCE", 0.0)
    monkeypatch.setattr(notify, "ANSWER", limit(0.5))
    listener = Listener(dsn, (WAKE,))
    try:
        for _ in range(3):
            listener.ask()
            wait_until(lambda: listener.drain() == set() and listener._asked_at is None, "a sign")
        Notifier().send(connection, WAKE)
        wait_until(lambda: listener.drain() == {WAKE}, "the notification")
        line.stall()
        listener.ask()
        with pytest.raises(LineStalled, match="no sign of life"):
            wait_until(lambda: listener.ask(), "what cannot come")
    finally:
        listener.close()
