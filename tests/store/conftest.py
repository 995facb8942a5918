"""Store tests run on a real PostgreSQL."""

from postgres import connection, database, server  # noqa: F401
