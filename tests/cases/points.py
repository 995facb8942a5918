"""The fault points of the roles and their processes, read from the source: nobody keeps a list.

A transaction has one before and one after its commit, since `flow.store.connect.transaction` is the
only way to one; a message has one before and after it is sent, and one where it has arrived, since
`Line` and `Channel` are the only ways for one. The others stand there by name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, get_args

from flow.process import messages
from flow.store.notify import STOP, WAKE

SOURCE: Final = Path(messages.__file__).parents[1]
"""Of the package `flow`."""
_LINES: Final = (
    (messages.ToZygote, "host", "zygote"),
    (messages.FromZygote, "zygote", "host"),
    (messages.FromChild, "child", "host"),
    (messages.ToChild, "host", "child"),
)
"""What is said, by whom, to whom."""


def calls(*parts: str) -> Iterator[tuple[Path, str, ast.Call]]:
    """Every call in parts of the package: its file, the name of what is called, and the call."""
    for part in parts:
        found = SOURCE / part
        for path in sorted(found.rglob("*.py")) if found.is_dir() else [found]:
            for call in _calls_in(path):
                yield path, _name(call.func), call


@cache
def _calls_in(path: Path) -> list[ast.Call]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.Call)]


def _name(called: ast.expr) -> str:
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def transactions() -> set[str]:
    """Names of the transactions of the roles, like `work.claim`."""
    found: set[str] = set()
    for path, name, call in calls("roles", "process"):
        if name in ("transaction", "snapshot"):
            given = call.args[1]
            if isinstance(given, ast.Constant):
                found.add(given.value)
            else:
                # The row of a process, which several roles keep with the same code.
                assert isinstance(given, ast.JoinedStr), f"{path}: a transaction without a name"
                event = given.values[-1]
                assert isinstance(event, ast.Constant), f"{path}: a transaction without a name"
                found |= {f"{role}{event.value}" for role in _registered()}
    return found


def _registered() -> set[str]:
    """Roles whose row `Registration` keeps."""
    return {
        _text(path, call.args[0]) for path, name, call in calls("roles") if name == "Registration"
    }


def _text(path: Path, given: ast.expr) -> str:
    """A text that stands in a module as it is, or as a constant of that module."""
    if isinstance(given, ast.Name):
        constants = {
            node.target.id: node.value
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value
        }
        given = constants[given.id]
    assert isinstance(given, ast.Constant)
    return str(given.value)


def around(*names: str) -> list[str]:
    """The points before and after the commit of transactions."""
    return [f"{name}.{side}_commit" for name in names for side in ("before", "after")]


def of_messages() -> set[str]:
    """Points of messages: where they are sent, and where they arrive."""
    return {
        point
        for said, sender, receiver in _LINES
        for tag in (message.__struct_config__.tag for message in get_args(said))
        for point in (
            f"{sender}.{tag}.before_send",
            f"{sender}.{tag}.after_send",
            f"{receiver}.{tag}.received",
        )
    }


def of_notifications() -> set[str]:
    """Points of the notifications that are transactions of their own.

    Others travel with the commit of what they tell of, between its points; that of what was queued
    nearly always does.
    """
    return set(around(*(f"notify.{channel}" for channel in (WAKE, STOP))))


def named() -> set[str]:
    """Points that stand in the source by name."""
    found: set[str] = set()
    for path, name, call in calls("roles", "process"):
        if name == "point" and isinstance(call.args[0], ast.Constant):
            found.add(call.args[0].value)
        elif name == "point":
            assert path.name in ("wire.py", "channel.py"), f"{path}: a point without a name"
    return found


def all_points() -> set[str]:
    """Every point that a role or one of its processes can come by."""
    return set(around(*transactions())) | of_messages() | of_notifications() | named()
