"""Store tests run on a real PostgreSQL."""

from collections.abc import Iterator

import pytest
from world import World

from postgres import connection, database, server  # noqa: F401


@pytest.fixture
def world(database, connection) -> Iterator[World]:  # noqa: F811
    """An empty world on a fresh database."""
    made = World(database, connection)
    yield made
    made.close()
