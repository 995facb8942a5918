"""What a table holds for a data interval, as figures that are equal when the rows are.

The digest is a sum over the rows, so their order does not count and each copy of a row does. The
driver of a database is imported when a table of it is measured, in the process that measures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from flow.authoring import libpq
from flow.authoring.connection import Connection
from flow.authoring.outlets import Table
from flow.errors import UsageError
from flow.process.messages import Figures

if TYPE_CHECKING:
    from psycopg import Cursor
    from psycopg.sql import Composable

_CONNECT_SECONDS: Final = 10
_DIGEST_BITS: Final = 64
_POSTGRES_TEXTS: Final = frozenset({25, 1042, 1043})
"""Type numbers of text, char and varchar."""


class Slice(NamedTuple):
    """The data interval, its end excluded, and the time zone of moments that name none."""

    start: datetime
    end: datetime
    zone: tzinfo
    zone_name: str


def measure(table: Table, connection: Connection, interval: Slice) -> Figures:
    """The number of rows and their digest.

    Raises `UsageError` where the table or its column cannot be meant, and what the driver raises.
    """
    kind = connection.conn_type or ""
    if kind not in _MEASURES:
        raise UsageError(
            f"tables of connection type {kind!r} cannot be compared",
            f"those of {' and '.join(_MEASURES)} can",
        )
    return _MEASURES[kind](table, connection, interval)


# ── PostgreSQL: counted and summed up where the rows are ─────────────────────────────────────────


def _postgres(table: Table, connection: Connection, interval: Slice) -> Figures:
    import psycopg
    from psycopg import sql

    options = libpq.parameters(connection)
    with psycopg.connect(connect_timeout=_CONNECT_SECONDS, **options) as conn:
        conn.read_only = True
        with conn.cursor() as cursor:
            # Dates, and moments without a zone, are compared with the interval in this zone.
            cursor.execute("select set_config('TimeZone', %s, true)", (interval.zone_name,))
            name = sql.Identifier(*table.name.split("."))
            rows = _rows_of_interval(cursor, table, name)
            statement = sql.SQL(
                "select count(*), coalesce(sum(hashtextextended("
                "(to_jsonb(r) - %(ignore)s::text[])::text, 0)::numeric), 0) from {} as r where {}"
            ).format(name, rows)
            values = {
                "start": interval.start,
                "end": interval.end,
                "ignore": list(table.ignore),
            }
            cursor.execute(statement, values)
            count, total = cursor.fetchall()[0]
    return Figures(count=count, digest=_digest(int(total)))


def _rows_of_interval(cursor: Cursor[Any], table: Table, name: Composable) -> Composable:
    """The condition on rows `r`; text is read as a moment, so that it need not be in one form."""
    from psycopg import sql

    if table.interval_column is None:
        return sql.SQL("true")
    column: Composable = sql.Identifier("r", table.interval_column)
    cursor.execute(sql.SQL("select {} from {} as r limit 0").format(column, name))
    if cursor.description and cursor.description[0].type_code in _POSTGRES_TEXTS:
        column = sql.SQL("cast({} as timestamptz)").format(column)
    return sql.SQL("{0} >= %(start)s and {0} < %(end)s").format(column)


# ── SQLite: has no type for moments, so rows are read and judged here ────────────────────────────


def _sqlite(table: Table, connection: Connection, interval: Slice) -> Figures:
    import sqlite3

    file = connection.host or connection.schema or ""
    if not Path(file).is_file():
        raise UsageError(
            f"connection {table.conn!r}: there is no database file {file!r}",
            "write the connection as sqlite:////path/to/file.db",
        )
    name = ".".join('"{}"'.format(part.replace('"', '""')) for part in table.name.split("."))
    with closing(sqlite3.connect(f"file:{quote(file)}?mode=ro", uri=True)) as conn:
        cursor = conn.execute(f"select * from {name}")
        columns = [described[0] for described in cursor.description]
        count = total = 0
        for row in _in_interval(cursor, columns, table, interval):
            count += 1
            total += _hash_of(dict(zip(columns, row, strict=True)), table.ignore)
    return Figures(count=count, digest=_digest(total))


def _in_interval(
    rows: Iterator[Sequence[Any]], columns: Sequence[str], table: Table, interval: Slice
) -> Iterator[Sequence[Any]]:
    if table.interval_column is None:
        yield from rows
        return
    if table.interval_column not in columns:
        raise UsageError(
            f"table {table.name} has no column {table.interval_column!r}",
            f"its columns are {', '.join(columns)}",
        )
    place = columns.index(table.interval_column)
    for row in rows:
        moment = _moment(row[place], table.interval_column, interval.zone)
        if moment is not None and interval.start <= moment < interval.end:
            yield row


def _moment(value: object, column: str, zone: tzinfo) -> datetime | None:
    """A date or time in ISO 8601, or seconds since 1970; none for null."""
    if value is None:
        return None
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, zone)
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        raise UsageError(
            f"a value of column {column!r} is no moment: {value!r}",
            "an interval column holds dates or times in ISO 8601, or seconds since 1970",
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)


def _hash_of(row: Mapping[str, Any], ignore: Sequence[str]) -> int:
    kept = [(column, value) for column, value in row.items() if column not in ignore]
    hashed = hashlib.blake2b(repr(kept).encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(hashed.digest())


def _digest(total: int) -> str:
    return f"{total % (1 << _DIGEST_BITS):016x}"


_MEASURES: Final[Mapping[str, Callable[[Table, Connection, Slice], Figures]]] = {
    "postgres": _postgres,
    "sqlite": _sqlite,
}
"""By the type of the connection."""
