"""A begin travels with the first statement of its transaction, a notification with its commit."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from flow.store.connect import Conn, transaction
from flow.store.notify import QUEUED, WAKE, Listener, Notifier
from waiting import wait_until


def status(conn: Conn) -> TransactionStatus:
    return conn.info.transaction_status


def test_the_first_statement_begins_and_answers(connection: Conn) -> None:
    with transaction(connection, "test"):
        assert status(connection) is TransactionStatus.IDLE
        answer = connection.execute("select %(a)s, current_setting('statement_timeout')", {"a": 1})
        assert status(connection) is TransactionStatus.INTRANS
        assert answer.fetchall() == [(1, "1min")]
    assert status(connection) is TransactionStatus.IDLE


def test_the_first_statement_counts_its_rows(connection: Conn) -> None:
    with transaction(connection, "test"):
        made = connection.execute("insert into pool (name, slots) values ('a', 1), ('b', 1)")
    assert made.rowcount == 2


def test_openings_stand_one_after_the_other(connection: Conn) -> None:
    with transaction(connection, "test", opening=("select '%s'", "select 2")) as answers:
        assert answers.opening.fetchall() == [("%s",)]
        answers.opening.nextset()
        assert answers.opening.fetchall() == [(2,)]


def test_the_last_statement_after_the_commit_is_answered(connection: Conn) -> None:
    settled = ("select 1", "select 2")
    with transaction(connection, "test", closing=lambda: settled) as answers:
        connection.execute("select 3")
    assert answers.closing.fetchall() == [(2,)]
    assert status(connection) is TransactionStatus.IDLE


def test_statements_without_an_answer_travel_with_the_next_one(connection: Conn) -> None:
    add = "insert into pool (name, slots) values (%(name)s, 1)"
    with transaction(connection, "test"):
        for name in ("first", "50 %"):
            connection.later(add, {"name": name})
        found = connection.execute("select name from pool where slots = %(slots)s", {"slots": 1})
        assert {name for (name,) in found} == {"first", "50 %"}
    with transaction(connection, "test"):
        connection.execute("select 1")
        connection.later(add, {"name": "with the commit"})
    with pytest.raises(LookupError), transaction(connection, "test"):
        connection.execute("select 1")
        connection.later(add, {"name": "never"})
        raise LookupError
    found = connection.execute("select name from pool where slots = 1")
    assert {name for (name,) in found} == {"first", "50 %", "with the commit"}


def test_an_error_without_an_answer_ends_the_transaction(connection: Conn) -> None:
    add = "insert into pool (name, slots) values (%(name)s, 1)"
    with pytest.raises(psycopg.errors.UniqueViolation), transaction(connection, "test"):
        connection.execute(add, {"name": "twice"})
        connection.later(add, {"name": "twice"})
    assert status(connection) is TransactionStatus.IDLE
    assert connection.execute("select name from pool where slots = 1").fetchall() == []


@pytest.mark.parametrize("text", ["it's", 'a "b"', "back\\slash", "100 %s", "{1,2}", "ü\n"])
def test_a_value_is_what_it_was(connection: Conn, text: str) -> None:
    values = {"text": text, "texts": [text, None], "number": -1}
    with transaction(connection, "test"):
        found = connection.execute(
            "select %(text)s::text, %(texts)s::text[], 1 - %(number)s", values
        ).fetchone()
    assert found == (text, [text, None], 2)


def test_an_error_in_the_first_statement_ends_the_transaction(connection: Conn) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero), transaction(connection, "test"):
        connection.execute("select 1 / 0")
    assert status(connection) is TransactionStatus.IDLE
    with transaction(connection, "test"):
        assert connection.execute("select 1").fetchone() == (1,)


def test_a_value_that_cannot_be_written_leaves_the_begin_to_the_next_statement(
    connection: Conn,
) -> None:
    with transaction(connection, "test"):
        with pytest.raises(psycopg.DataError):
            connection.execute("select %(text)s::text", {"text": "a\0b"})
        connection.execute("select 1")
        assert status(connection) is TransactionStatus.INTRANS


def test_nothing_is_left_of_a_transaction_without_statements(connection: Conn) -> None:
    with transaction(connection, "test"):
        pass
    connection.execute("select 1")
    assert status(connection) is TransactionStatus.IDLE
    with pytest.raises(LookupError), transaction(connection, "test"):
        raise LookupError
    connection.execute("select 1")
    assert status(connection) is TransactionStatus.IDLE


def test_a_debt_is_paid_with_the_commit(connection: Conn, direct: str) -> None:
    notifier = Notifier(coalesce=3_600)
    heard: set[str] = set()
    listener = Listener(direct, (WAKE, QUEUED))
    with closing(listener):
        with (
            pytest.raises(LookupError),
            transaction(connection, "test", closing=notifier.settle),
        ):
            notifier.owe(WAKE)
            raise LookupError
        with transaction(connection, "test", closing=notifier.settle):
            connection.execute("select 1")
            notifier.owe(QUEUED)
        assert notifier.pay(connection) is None, "something is owed still"
        wait_until(
            lambda: heard.update(listener.drain()) or heard == {WAKE, QUEUED}, "both channels"
        )
    notifier.send(connection, WAKE)
    assert 3_000 < (notifier.pay(connection) or 0) <= 3_600, "so soon it is owed"
