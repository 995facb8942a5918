"""What a command says that stops looking at what it has started."""

from __future__ import annotations

import psycopg
import pytest

from flow.errors import DatabaseError, NotFound
from flow_cli.detaching import Detaching
from flow_cli.output import Output

LOST = psycopg.OperationalError("server closed the connection unexpectedly\n\tThis probably means")


def test_an_interrupt_says_where_to_look(capsys):
    with pytest.raises(KeyboardInterrupt), Detaching(Output()) as detaching:
        detaching.goes_on("it goes on: flow runs show sales latest")
        raise KeyboardInterrupt
    assert capsys.readouterr().err == "it goes on: flow runs show sales latest\n"


def test_the_loss_of_the_database_says_where_to_look():
    with pytest.raises(DatabaseError) as caught, Detaching(Output()) as detaching:
        detaching.goes_on("it goes on: flow runs show sales latest")
        raise LOST
    assert caught.value.message == (
        "the database went away: server closed the connection unexpectedly"
    )
    assert caught.value.hint == "it goes on: flow runs show sales latest"


def test_what_was_not_started_does_not_go_on(capsys):
    with pytest.raises(psycopg.OperationalError), Detaching(Output()):
        raise LOST
    with pytest.raises(NotFound), Detaching(Output()) as detaching:
        detaching.goes_on("it goes on")
        raise NotFound("run 'it' has been deleted")
    assert capsys.readouterr().err == ""
