"""Bringing a database to the schema of this version, and refusing one that does not fit."""

from __future__ import annotations

from pathlib import Path

import psycopg

from flow.errors import DatabaseError
from flow.store.connect import Conn, connect

HEAD = "0001"
"""The newest migration; a test compares it with the folder."""
NEEDED = "0001"
"""The oldest schema that this version can run on. Migrations expand first, contract later."""
MIN_POSTGRES = 150_000

_LOCK = "select pg_advisory_xact_lock(hashtext('flow.migrate'))"


def revision(conn: Conn) -> str | None:
    """The schema's revision; None when the database has never been migrated."""
    if conn.execute("select to_regclass('alembic_version')").fetchone() == (None,):
        return None
    row = conn.execute("select version_num from alembic_version").fetchone()
    return str(row[0]) if row else None


def require(conn: Conn) -> None:
    """Raise `DatabaseError` unless the schema is new enough for this version of Flow."""
    found = revision(conn)
    if found is None:
        raise DatabaseError("the database has no Flow schema yet", "run `flow db migrate`")
    if found < NEEDED:
        raise DatabaseError(
            f"the database schema is at {found}, this version of Flow needs {NEEDED}",
            "run `flow db migrate`",
        )


def migrate(dsn: str) -> tuple[str | None, str]:
    """Run all missing migrations under a lock; returns the revision before and after.

    Safe to call from several processes at once: one migrates, the others wait and find nothing to
    do. A database that is newer than this version is left alone.
    """
    with connect(dsn, name="migrate") as conn:
        if conn.info.server_version < MIN_POSTGRES:
            raise DatabaseError(
                f"PostgreSQL {conn.info.server_version // 10000} is too old",
                "Flow needs PostgreSQL 15 or newer",
            )
        before = revision(conn)
        if before is not None and before >= HEAD:
            return before, before
    _upgrade(dsn)
    with connect(dsn, name="migrate") as conn:
        return before, revision(conn) or HEAD


def _upgrade(dsn: str) -> None:
    # Alembic and SQLAlchemy cost most of a second to import; nobody else needs them.
    import sqlalchemy
    from alembic import command
    from alembic.config import Config

    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://",
        creator=lambda: psycopg.connect(dsn, prepare_threshold=None),
        poolclass=sqlalchemy.NullPool,
    )
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with engine.begin() as connection:
        connection.exec_driver_sql(_LOCK)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    engine.dispose()
