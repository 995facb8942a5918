"""Verbs that read load neither SQLAlchemy nor anything that runs user code."""

from __future__ import annotations

import pytest

from loaded import loaded_by_command
from operations_world import World

ABSENT = {
    "alembic",
    "flow.operators",
    "flow.process",
    "flow.roles",
    "jinja2",
    "pendulum",
    "sqlalchemy",
    "textual",
}


@pytest.mark.parametrize(
    "verb",
    [
        "dags list",
        "dags show sales",
        "dags next sales",
        "dags errors",
        "dags diff sales 1 1",
        "runs list",
        "runs show sales latest",
        "tasks list sales latest",
        "tasks tries sales latest extract",
        "xcom list sales latest extract",
        "grid sales",
        "graph sales latest",
        "compare sales 2026-07-08",
        "why sales",
        "why sales latest report",
        "logs sales latest extract",
        "pools list",
        "vars list",
        "conns list",
        "db status",
    ],
)
def test_a_verb_that_reads(sales: World, environment: dict[str, str], verb: str) -> None:
    # Its tries have no logs: nothing ran.
    code = 3 if verb.startswith("logs") else 0
    found = loaded_by_command(*verb.split(), code=code, environment=environment)
    assert "psycopg" in found
    assert found & ABSENT == set()
