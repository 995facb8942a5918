"""What an operation costs the database, as `explain analyze` says of each of its statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock

from psycopg import ClientCursor

from flow.store.connect import Conn


class Cost(NamedTuple):
    """Milliseconds in the database, and the tables that are read from end to end."""

    milliseconds: float
    whole: set[str]


def cost_of(conn: Conn, operation: Callable[[], object]) -> Cost:
    """Run an operation that only reads, and then explain what it has sent."""
    sent: list[str] = []
    execute = Conn.execute

    def note(conn: Conn, query: Any, params: Any = None, **how: Any) -> Any:
        sent.append(str(ClientCursor(conn).mogrify(query, params)))
        return execute(conn, query, params, **how)

    with mock.patch.object(Conn, "execute", note):
        operation()
    milliseconds, whole = 0.0, set[str]()
    for statement in sent:
        if statement.split()[0] in ("select", "with"):
            row = conn.execute(f"explain (analyze, timing off, format json) {statement}").fetchone()  # type: ignore[call-overload]
            assert row is not None
            milliseconds += row[0][0]["Planning Time"] + row[0][0]["Execution Time"]
            whole.update(_read_whole(row[0][0]["Plan"]))
    return Cost(milliseconds, whole)


def _read_whole(node: dict[str, Any]) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan":
        yield node["Relation Name"]
    for below in node.get("Plans", ()):
        yield from _read_whole(below)
