"""Stored specs, by hash."""

from __future__ import annotations

from collections.abc import Iterable

from flow.store.connect import Conn

_LOAD = "select hash, body from spec where hash = any(%(hashes)s::text[])"
_STORE = "insert into spec (hash, body) values (%(hash)s, %(body)s) on conflict do nothing"


def load(conn: Conn, hashes: Iterable[str]) -> dict[str, str]:
    """Canonical JSON by hash."""
    return dict(conn.execute(_LOAD, {"hashes": list(hashes)}))


def store(conn: Conn, hash: str, body: bytes) -> None:
    """Keep a spec under its hash; the same one again changes nothing."""
    conn.execute(_STORE, {"hash": hash, "body": body.decode()})
