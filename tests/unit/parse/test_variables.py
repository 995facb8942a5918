"""Variables that imports read: asked for once, and forgotten when nobody reads them any more."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from flow.process.messages import GetVariable, ToChild, Value
from flow.roles.parse import variables
from flow.roles.parse.variables import Snapshot
from flow.store.connect import Conn


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Every look at the store."""
    looks: list[list[str]] = []

    def stamps(conn: Conn, keys: Collection[str]) -> dict[str, str | None]:
        looks.append(sorted(keys))
        return dict.fromkeys(keys, "1")

    monkeypatch.setattr(variables.variables, "stamps", stamps)
    return looks


def test_a_variable_of_another_name_each_time_is_forgotten(
    asked: list[list[str]], connection: Conn
) -> None:
    def read(conn: Conn, message: GetVariable) -> ToChild:
        return Value(value=message.key)

    snapshot = Snapshot(read)
    for number in range(5):
        snapshot.get(connection, GetVariable(key=f"of_{number}"))
        snapshot.keep([f"of_{number}"])
    snapshot.look(connection, ["known"])
    assert asked[-1] == ["known", "of_4"]
    assert snapshot.get(connection, GetVariable(key="of_0")) == (Value(value="of_0"), "1")
