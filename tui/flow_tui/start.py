"""Starting the terminal UI, and opening it at a place."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flow.errors import UsageError
from flow_tui import garbage, terminal_colours

if TYPE_CHECKING:
    from flow.settings import Settings


def start(settings: Settings, words: Sequence[str], *, read_only: bool) -> int:
    """Show it until somebody leaves; the exit code. `words`: a DAG, a run of it, a task of that.

    Raises `UsageError` without a terminal that can draw, `NotFound` for a place that does not
    exist, and `DatabaseError` when the database cannot be reached at the start.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        raise UsageError(
            "the terminal UI needs a terminal that can draw",
            "the same is printed by flow status, flow dags list, flow grid and others",
        )
    if codecs.lookup(sys.stderr.encoding).name != "utf-8":  # where Textual writes
        raise UsageError(
            "the terminal UI draws with characters that the encoding of this locale lacks: "
            f"{sys.stderr.encoding}",
            "LC_ALL=C.UTF-8 flow tui, if the terminal understands UTF-8",
        )
    garbage.put_off()
    try:
        return _run(settings, words, read_only=read_only)
    finally:
        garbage.collect()


def _run(settings: Settings, words: Sequence[str], *, read_only: bool) -> int:
    from flow_tui.beginning import Beginning, first_question
    from flow_tui.leaving import leaving
    from flow_tui.memory import Memory
    from flow_tui.session import Session

    memory = Memory.of_user()
    session = Session(settings, read_only=read_only)
    view = memory.get("view", "home")
    beginning = Beginning(session.near, first_question(view, words))
    from flow_tui.app import FlowApp  # takes as long as the database

    few_colours = terminal_colours.heed()
    begun = beginning.wait()
    session.go_on(begun)
    places = begun.answer if words else ()
    app = FlowApp(session, memory, places, begun, few_colours=few_colours)
    with leaving(sys.stdin.fileno(), app.hang_up) as way:
        app.leave = way.begin
        app.run()
    return app.return_code or 0
