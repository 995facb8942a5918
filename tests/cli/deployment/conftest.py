"""`flow` on a deployment: a real database, and a scheduler that makes its passes on request."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.conninfo import conninfo_to_dict

from flow.store.connect import Conn
from postgres import connection, database, server  # noqa: F401
from world import World


@pytest.fixture
def world(
    database: str,  # noqa: F811
    connection: Conn,  # noqa: F811
    environment: dict[str, str],
) -> World:
    """A migrated deployment that `flow` finds, with a worker and no DAG."""
    fields = conninfo_to_dict(database)
    host = quote(str(fields["host"]), safe="")
    environment["FLOW_DATABASE_URL"] = (
        f"postgresql://{fields['user']}@/{fields['dbname']}?host={host}&port={fields['port']}"
    )
    made = World(database, connection, Path(environment["FLOW_HOME"]))
    made.home.mkdir()
    made.start_worker()
    return made
