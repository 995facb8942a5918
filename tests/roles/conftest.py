"""Roles run against a real PostgreSQL."""

from postgres import connection, database, server  # noqa: F401
