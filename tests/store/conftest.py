"""Store tests run on a real PostgreSQL."""

from collections.abc import Iterator

import pytest
from hand_driven import World


@pytest.fixture
def world(database, connection) -> Iterator[World]:
    """An empty world on a fresh database."""
    made = World(database, connection)
    yield made
    made.close()
