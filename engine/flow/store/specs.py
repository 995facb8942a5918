"""Stored specs, by hash, each with its head beside it (`flow.graph.head`)."""

from __future__ import annotations

from collections.abc import Iterable

from flow.graph import DagSpec, encode, head
from flow.store import arrays
from flow.store.connect import Conn

_LOAD = "select hash, body from spec where hash = any(%(hashes)s::text[])"
_LOAD_HEADS = "select hash, coalesce(head, body) from spec where hash = any(%(hashes)s::text[])"


def load(conn: Conn, hashes: Iterable[str], *, heads: bool = False) -> dict[str, str]:
    """Canonical JSON by hash: whole specs, or heads where a spec has one."""
    statement = _LOAD_HEADS if heads else _LOAD
    return dict(conn.execute(statement, {"hashes": arrays.texts(hashes)}).fetchall())


def columns(body: bytes, spec: DagSpec) -> dict[str, str | None]:
    """What is kept of a spec: its canonical JSON, and that of its head."""
    first = head(spec)
    return {
        "body": body.decode(),
        "head": encode(first).decode() if first is not None else None,
    }
