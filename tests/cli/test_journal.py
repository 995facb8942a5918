"""Logs in the form of systemd's journal."""

from __future__ import annotations

import logging
import os
import sys

import pytest

from flow_cli.journal import JournalFormatter, is_journal


def record(level: int, text: str, error: BaseException | None = None) -> logging.LogRecord:
    info = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord("flow.x", level, "x.py", 1, text, (), info)


@pytest.mark.parametrize(
    ("level", "priority"),
    [
        (logging.DEBUG, 7),
        (logging.INFO, 6),
        (logging.WARNING, 4),
        (logging.ERROR, 3),
        (logging.CRITICAL, 2),
    ],
)
def test_a_level_is_a_priority_in_front(level: int, priority: int) -> None:
    form = JournalFormatter("%(levelname)s %(message)s")
    said = form.format(record(level, "something"))
    assert said == f"<{priority}>{logging.getLevelName(level)} something"


def test_a_record_is_one_line_with_all_of_its_traceback() -> None:
    try:
        raise ValueError("first\nsecond")
    except ValueError as error:
        said = JournalFormatter("%(message)s").format(record(logging.ERROR, "a\nb", error))
    assert "\n" not in said
    assert said.startswith("<3>a | b | Traceback (most recent call last): |")
    assert said.endswith("ValueError: first | second")


def test_only_the_journal_itself_is_taken_for_it() -> None:
    reader, writer = os.pipe()
    found = os.fstat(writer)
    journal = {"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}
    assert is_journal(writer, journal)
    assert not is_journal(sys.__stdin__.fileno() if sys.__stdin__ else 0, journal)
    assert not is_journal(writer, {})
    assert not is_journal(writer, {"JOURNAL_STREAM": "1:2"})
    os.close(reader)
    os.close(writer)
    assert not is_journal(writer, journal)
