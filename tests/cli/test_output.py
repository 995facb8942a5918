"""The forms of a result: for people in a pipe and on a terminal, and for programs."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from pathlib import Path

import pytest

from flow.wording.cells import json_of, text_of, width_of
from flow.wording.layout import Cells, aligned, blocks, fits
from flow_cli.output import Column, Format, Output
from flow_cli.terminal import draw_table

LONG_ID = "manual__" + "x" * 192
ROWS = [
    {"run_id": LONG_ID, "state": "failed", "tasks": 7, "note": None},
    {"run_id": "数据", "state": "success", "tasks": 12, "note": "a\nb\x1b[31m"},
]
COLUMNS = (Column("run_id"), Column("tasks", right=True), Column("note"), Column("state"))


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def printed(format: Format, rows=ROWS, total=None, out=None) -> tuple[str, str]:
    out, err = out or io.StringIO(), io.StringIO()
    Output(format, out, err).table(rows, COLUMNS, "runs", total)
    return out.getvalue(), err.getvalue()


def test_a_table_in_a_pipe_is_aligned_and_uncut(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    gap = " " * (len(LONG_ID) - 4)
    assert printed(Format.TEXT) == (
        f"RUN ID{' ' * (len(LONG_ID) - 6)}  TASKS  NOTE          STATE\n"
        f"{LONG_ID}      7  -             failed\n"
        f"数据{gap}     12  a\\nb\\x1b[31m  success\n",
        "",
    )


def test_json_is_one_document_with_every_field():
    out, err = printed(Format.JSON)
    assert json.loads(out) == ROWS
    assert "数据" in out
    assert err == ""


def test_jsonl_is_one_object_a_line():
    out, _ = printed(Format.JSONL)
    assert [json.loads(line) for line in out.splitlines()] == ROWS


def test_nothing_is_an_empty_document_and_a_message():
    assert printed(Format.JSON, []) == ("[]\n", "")
    assert printed(Format.JSONL, []) == ("", "")
    assert printed(Format.TEXT, []) == ("", "no runs\n")


@pytest.mark.parametrize("format", Format)
def test_a_cut_list_says_how_many_there_are(format):
    assert printed(format, total=1234)[1] == "showing 2 of 1234 runs; --all shows every one\n"


def test_json_stays_json_where_the_encoding_lacks_characters():
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="latin-1", errors="backslashreplace")
    Output(Format.JSON, out, io.StringIO()).table(ROWS, COLUMNS, "runs")
    out.flush()
    assert json.loads(raw.getvalue()) == ROWS


@pytest.mark.parametrize("columns", [40, 80])
def test_on_a_terminal_nothing_is_lost_and_no_line_is_too_long(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    text, _ = printed(Format.TEXT, out=Terminal())
    assert "\x1b" not in text
    assert all(width_of(line.rstrip()) <= columns for line in text.splitlines())
    assert text.count("x") == LONG_ID.count("x") + 1  # and the one of \x1b
    assert "数据" in text
    assert "success" in text


def test_a_terminal_too_narrow_for_columns_gets_blocks(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("NO_COLOR", "1")
    text, _ = printed(Format.TEXT, rows=ROWS[1:], out=Terminal())
    assert text == "RUN ID  数据\nTASKS   12\nNOTE    a\\nb\\x1b[31m\nSTATE   success\n"


def test_a_style_colours_the_cell_on_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    styles = [lambda text: "red" if text == "failed" else ""]
    draw_table(out, Cells(["STATE"], [["failed"], ["success"]], [False]), styles)
    assert re.search(r"\x1b\[31mfailed *\x1b\[0m", out.getvalue())
    assert re.search(r"^success", out.getvalue(), re.MULTILINE)


def test_a_record_is_a_field_a_line_or_one_object():
    row = {"dag_id": "sales", "paused": False, "tags": ["a", "b"]}
    out = io.StringIO()
    Output(Format.TEXT, out).record(row)
    assert out.getvalue() == "DAG ID  sales\nPAUSED  no\nTAGS    a, b\n"
    out = io.StringIO()
    Output(Format.JSONL, out).record(row)
    assert out.getvalue() == '{"dag_id": "sales", "paused": false, "tags": ["a", "b"]}\n'


class Colour(StrEnum):
    RED = "red"


IN_INDIA = datetime(2026, 10, 9, 6, 0, 0, 5, tzinfo=timezone(timedelta(hours=5, minutes=30)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        ("", "-"),
        ([], "-"),
        (True, "yes"),
        (300.0, "300"),
        (1234567.25, "1234567.25"),
        (IN_INDIA, "2026-10-09T06:00:00+05:30"),
        (timedelta(minutes=1), "60 s"),
        (Colour.RED, "red"),
        ({"b", "a"}, "a, b"),
        (Path("/a"), "/a"),
        ("right\u202eleft\x07", "right\\u202eleft\\x07"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_text_of_a_value(value, text):
    assert text_of(value) == text


def test_times_in_json_are_utc_and_exact():
    assert json_of(IN_INDIA) == "2026-10-09T00:30:00.000005Z"
    assert json_of(datetime(2026, 10, 9, tzinfo=UTC)) == "2026-10-09T00:00:00Z"


def test_a_time_without_an_offset_is_a_mistake_of_ours():
    naive = datetime(2026, 10, 9)
    for show in (text_of, json_of):
        with pytest.raises(TypeError, match="without an offset"):
            show(naive)


def test_layout_fits_when_every_column_stays_readable():
    cells = Cells(["A", "B"], [["a" * 50, "b" * 8]], [False, False])
    assert fits(cells, 16 + 2 + 8)
    assert not fits(cells, 16 + 2 + 7)
    assert aligned(cells) == ["A" + " " * 51 + "B", "a" * 50 + "  " + "b" * 8]
    assert blocks(cells) == ["A  " + "a" * 50, "B  " + "b" * 8]


def test_progress_is_drawn_only_on_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    for err, drawn in ((io.StringIO(), False), (Terminal(), True)):
        out = io.StringIO()
        with Output(Format.JSON, out, err).progress("backfill [sales]", 30) as advance:
            advance(12)
        assert out.getvalue() == ""
        assert ("backfill [sales]" in err.getvalue()) is drawn
        assert ("12/30" in err.getvalue()) is drawn
