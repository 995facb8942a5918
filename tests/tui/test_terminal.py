"""The terminal UI on a terminal of its own: signals, and terminals that cannot draw."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest
from on_a_terminal import shown
from psycopg.conninfo import make_conninfo

from operations_world import World
from postgres import PostgresServer, url_of
from support.stalling_proxy import stalling_line
from waiting import limit, wait_until

LEFT = b"\x1b[?1049l"
"""What makes a terminal show again what it did before."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(
    world: World, database: str, tmp_path: Path, number: signal.Signals
) -> None:
    with shown(url_of(database), tmp_path) as one:
        wait_until(lambda: one.shows(b"keys"), "the footer")
        one.process.send_signal(number)
        assert one.end() == 128 + number
        assert LEFT in one.output
        assert b"Traceback" not in one.output


def test_it_is_left_by_a_key_whatever_it_waits_for(
    world: World, server: PostgresServer, direct: str, tmp_path: Path
) -> None:
    with stalling_line(server.embedded.socket_directory) as line:
        through = url_of(make_conninfo(direct, host=str(line.folder)))
        with shown(through, tmp_path) as one:
            wait_until(lambda: one.shows(b"nothing has failed"), "what the database answers")
            line.stall()
            one.press(b"2")
            wait_until(lambda: one.shows(b"reading"), "a list that waits for the database")
            one.press(b"q")
            assert one.end() == 0
            assert LEFT in one.output


def test_what_is_typed_before_it_is_there_are_keys_and_no_letters(
    world: World, database: str, tmp_path: Path
) -> None:
    state = tmp_path / "state" / "flow" / "tui.json"
    state.parent.mkdir(parents=True)
    state.write_text('{"view": "dags"}', encoding="utf-8")  # where a filter is the first widget
    with shown(url_of(database), tmp_path) as one:
        one.press(b"3q")
        assert one.end() == 0
    assert json.loads(state.read_text(encoding="utf-8")) == {"view": "backfills"}


def test_a_terminal_that_stands_still_is_left(world: World, database: str, tmp_path: Path) -> None:
    with shown(url_of(database), tmp_path) as one:
        wait_until(lambda: one.shows(b"keys"), "the footer")
        one.stand_still()
        one.process.send_signal(signal.SIGTERM)
        assert one.process.wait(limit(30)) == 128 + signal.SIGTERM


def test_a_terminal_that_is_gone_is_left(world: World, database: str, tmp_path: Path) -> None:
    """Without a signal: it is not told to a process that is nobody's job any more."""
    with shown(url_of(database), tmp_path) as one:
        wait_until(lambda: one.shows(b"keys"), "the footer")
        one.hang_up()
        assert one.process.wait(limit(30)) == 128 + signal.SIGHUP


def test_its_key_suspends_it_and_leaves_the_terminal_as_it_was(
    world: World, database: str, tmp_path: Path
) -> None:
    with shown(url_of(database), tmp_path) as one:
        wait_until(lambda: one.shows(b"keys"), "the footer")
        one.press(b"\x1a")
        state = Path(f"/proc/{one.process.pid}/stat")
        wait_until(
            lambda: one.shows(LEFT) and state.read_text().rpartition(")")[2].split()[0] == "T",
            "a stopped process, its terminal as it was",
        )


@pytest.mark.parametrize(("term", "some"), [("xterm", True), ("vt100", False)])
def test_a_terminal_gets_no_more_colours_than_it_has(
    world: World,
    database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    term: str,
    some: bool,
) -> None:
    """On its own background, which is known to be readable."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    with shown(url_of(database), tmp_path, TERM=term, COLORTERM="") as one:
        wait_until(lambda: one.shows(b"nothing has failed"), "what the database answers")
        one.press(b"q")
        assert one.end() == 0
    found = re.findall(rb"\x1b\[([0-9;]+)m", one.output)
    codes = {int(code) for style in found for code in style.split(b";")}
    assert {7, 39, 49} <= codes
    assert not codes & {38, 48}
    assert bool(codes & set(range(30, 38))) is some


def test_a_terminal_that_cannot_draw_is_refused(tmp_path: Path, database: str) -> None:
    with shown(url_of(database), tmp_path, TERM="dumb") as one:
        assert one.process.wait(limit(30)) == 2
        wait_until(lambda: one.shows(b"a terminal that can draw"), "why")
        assert b"\x1b[" not in one.output


def test_a_locale_without_the_characters_is_refused_with_one_that_has_them(
    tmp_path: Path, database: str
) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with shown(url_of(database), tmp_path, **plain) as one:
        assert one.process.wait(limit(30)) == 2
        wait_until(lambda: one.shows(b"LC_ALL=C.UTF-8 flow tui"), "what to do")
        assert b"\x1b[" not in one.output


def test_the_plainest_locale_is_drawn_in(world: World, database: str, tmp_path: Path) -> None:
    with shown(url_of(database), tmp_path, LC_ALL="POSIX") as one:
        wait_until(lambda: one.shows("╭".encode()), "a frame")
