"""Versions of DAGs: which graph a run is pinned to."""

from __future__ import annotations

from collections.abc import Iterable

from flow.store.connect import Conn

_SPEC_HASHES = """
select v.dag_id, v.number, v.spec_hash
from unnest(%(dag_ids)s::text[], %(numbers)s::int[]) as k(dag_id, number)
join dag_version v on v.dag_id = k.dag_id and v.number = k.number
"""


def spec_hashes(conn: Conn, keys: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """Spec hash by (dag_id, version number)."""
    dag_ids, numbers = zip(*keys, strict=True)
    rows = conn.execute(_SPEC_HASHES, {"dag_ids": list(dag_ids), "numbers": list(numbers)})
    return {(dag_id, number): spec_hash for dag_id, number, spec_hash in rows}
