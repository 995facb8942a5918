"""Operations are tested on a real PostgreSQL, with a scheduler that makes its passes on request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from flow.store.connect import Conn
from operations_world import World
from postgres import connection, database, server  # noqa: F401


@pytest.fixture
def world(database: str, connection: Conn, tmp_path: Path) -> World:  # noqa: F811
    """A migrated deployment with a worker and no DAG."""
    made = World(database, connection, tmp_path)
    made.start_worker()
    return made


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The statements that are sent from now on."""
    execute, sent = psycopg.Cursor.execute, []

    def noting(cursor: Any, statement: Any, *rest: Any, **more: Any) -> Any:
        sent.append(statement)
        return execute(cursor, statement, *rest, **more)

    monkeypatch.setattr(psycopg.Cursor, "execute", noting)
    return sent
