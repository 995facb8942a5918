"""A world for workers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flow.store.connect import Conn
from store.hand_driven import World


@pytest.fixture
def world(database: str, connection: Conn) -> Iterator[World]:
    made = World(database, connection)
    yield made
    made.close()
