"""The keys of the terminal UI as a table for its manual page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from flow_tui.action import Action, Danger
from flow_tui.actions import ACTIONS
from flow_tui.movements import MOVEMENTS
from flow_tui.targets import Kind

MARK: Final = "<!-- keys -->"
"""Where the table stands in the page's source."""
_SHOWN: Final = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "less_than_sign": "<",
    "greater_than_sign": ">",
}
_HEADINGS: Final[tuple[tuple[str, frozenset[Kind]], ...]] = (
    ("Everywhere", frozenset()),
    ("On a DAG", frozenset({Kind.DAG})),
    ("On a run", frozenset({Kind.RUN})),
    ("On a task", frozenset({Kind.TASK})),
    ("In a grid", frozenset({Kind.GRID})),
    ("In a log", frozenset({Kind.LOG})),
    ("On a backfill", frozenset({Kind.BACKFILL})),
)


def with_keys(source: str) -> str:
    """The source of a page with the table in its place."""
    return source.replace(MARK, "\n".join(_sections()).strip())


def _sections() -> Iterable[str]:
    for heading, kinds in _HEADINGS:
        own = [one for one in ACTIONS if (one.kinds & kinds if kinds else not one.kinds)]
        yield from _table(heading, own)
    yield from _table("Moving", MOVEMENTS)


def _table(heading: str, actions: Iterable[Action]) -> Iterable[str]:
    yield f"## {heading}\n"
    yield "| key | name | does |"
    yield "| --- | --- | --- |"
    yield from (f"| {_keys(one)} | {one.id} | {_sentence(one)} |" for one in actions)
    yield ""


def _keys(action: Action) -> str:
    return ", ".join(_SHOWN.get(key, key) for key in action.key.split(","))


def _sentence(action: Action) -> str:
    cost = {
        Danger.NONE: "",
        Danger.CHANGE: " Shows its plan and asks.",
        Danger.DESTROY: " Shows its plan and asks, with Cancel as the default.",
    }
    return f"{action.help}{cost[action.danger]}"
