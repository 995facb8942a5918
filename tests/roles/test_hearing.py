"""A listener that is lost comes back; a role that has none goes on."""

from __future__ import annotations

import logging
import selectors
from collections.abc import Iterator

import pytest

from flow.roles.hearing import Hearing
from flow.store.connect import Conn
from flow.store.notify import QUEUED, STOP, Notifier
from waiting import limit, wait_until


@pytest.fixture
def selector() -> Iterator[selectors.BaseSelector]:
    with selectors.DefaultSelector() as made:
        yield made


@pytest.fixture
def hearing(database: str, selector: selectors.BaseSelector) -> Iterator[Hearing]:
    made = Hearing(database, (QUEUED, STOP), selector)
    yield made
    made.close()


def cut(conn: Conn) -> bool:
    """End the connections that listen; whether there was one."""
    return bool(
        conn.execute(
            """select pg_terminate_backend(pid) from pg_stat_activity
               where application_name = 'flow listen' and datname = current_database()"""
        ).fetchall()
    )


def test_it_comes_back_and_tells_of_what_it_may_have_missed(
    hearing: Hearing,
    selector: selectors.BaseSelector,
    connection: Conn,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert hearing.keep() == {QUEUED, STOP}
    assert hearing.keep() == set()
    assert cut(connection)
    [(key, _)] = selector.select(limit(10))
    assert key.data is hearing
    with caplog.at_level(logging.WARNING):
        wait_until(lambda: hearing.hear() == set() and "polling meanwhile" in caplog.text, "a loss")
    assert selector.get_map() == {}
    assert wait_until(hearing.keep, "another listener") == {QUEUED, STOP}
    Notifier().send(connection, QUEUED)
    assert selector.select(limit(10))
    wait_until(lambda: hearing.hear() == {QUEUED}, "the notification")


def test_a_listener_that_cannot_be_had_is_no_outage(
    selector: selectors.BaseSelector, caplog: pytest.LogCaptureFixture
) -> None:
    hearing = Hearing("host=/nowhere dbname=x", (QUEUED,), selector)
    with caplog.at_level(logging.WARNING):
        assert hearing.keep() == set()
        assert hearing.keep() == set()
        assert hearing.hear() == set()
    assert caplog.text.count("polling meanwhile") == 1  # the second attempt waits
    hearing.close()
