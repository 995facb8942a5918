"""What is told of errors of the database."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors

from flow.errors import DatabaseError, DatabaseUnreachable, FlowError, UsageError
from flow.ops.deployment import refusal
from flow.store.connect import connect


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (errors.QueryCanceled("statement timeout"), DatabaseError, "took too long"),
        (psycopg.OperationalError(""), DatabaseError, "went away: the connection was lost"),
        (errors.IdleInTransactionSessionTimeout("idle"), DatabaseError, "went away: idle"),
        (errors.ReadOnlySqlTransaction("read-only"), DatabaseError, "went away: read-only"),
        (errors.NumericValueOutOfRange("too large\nLINE 1"), UsageError, "a value: too large"),
    ],
)
def test_an_error_of_the_driver_is_told_in_words(
    error: psycopg.Error, kind: type[FlowError], message: str
) -> None:
    told = refusal(error)
    assert isinstance(told, kind)
    assert message in told.message
    assert "\n" not in told.message
    assert told.hint


def test_a_wrong_statement_is_a_bug() -> None:
    assert refusal(errors.UndefinedTable("no such table")) is None


def test_a_server_that_is_not_there_is_told_without_questions() -> None:
    with pytest.raises(DatabaseUnreachable, match=r"Connection refused$"):
        connect("postgresql://127.0.0.1:1/flow", name="test")
