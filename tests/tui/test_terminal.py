"""The terminal UI on a terminal of its own: signals, and terminals that cannot draw."""

from __future__ import annotations

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


def test_a_terminal_that_cannot_draw_is_refused(tmp_path: Path, database: str) -> None:
    with shown(url_of(database), tmp_path, TERM="dumb") as one:
        assert one.process.wait(limit(30)) == 2
        wait_until(lambda: one.shows(b"a terminal that can draw"), "why")
        assert b"\x1b[" not in one.output
