"""Roles run against a real PostgreSQL."""
