"""Asking before something is destroyed."""

from __future__ import annotations

import io

import pytest
import typer

from flow.errors import UsageError
from flow_cli.confirm import confirm
from flow_cli.failures import failure_of


class Person(io.StringIO):
    """A standard input at which somebody sits."""

    def isatty(self) -> bool:
        return True


def test_yes_does_not_ask(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    confirm("Delete it?", yes=True)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("stdin", [io.StringIO("y\n"), None], ids=["a pipe", "closed"])
def test_without_a_terminal_it_is_refused(monkeypatch, stdin):
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(UsageError) as caught:
        confirm("Delete it?", yes=False)
    assert caught.value.hint == "Add --yes to do it, or --dry-run to see what it would touch."


def test_the_question_goes_to_stderr_and_an_answer_is_taken(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", Person("y\n"))
    confirm("Delete it?", yes=False)
    assert capsys.readouterr() == ("", "Delete it? [y/N] ")


@pytest.mark.parametrize("answer", ["n\n", "\n", ""], ids=["no", "enter", "end"])
def test_no_changes_nothing_and_is_a_refusal(monkeypatch, answer):
    monkeypatch.setattr("sys.stdin", Person(answer))
    with pytest.raises(typer.Abort) as caught:
        confirm("Delete it?", yes=False)
    failure = failure_of(caught.value)
    assert (failure.message, failure.exit_code) == ("Nothing was changed.", 2)
