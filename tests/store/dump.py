"""The schema as text, the same from every supported PostgreSQL.

    python -m store.dump       write tests/store/schema.sql (or: just schema)

A migration's effect shows in the difference of this file. The months of the history tables are
left out: they depend on the day.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from postgres import PostgresServer, running_server

FILE = Path(__file__).with_name("schema.sql")

_HEADER = "-- What all migrations together make; written by `just schema`.\n\n"
_MONTHS = "*_history_[0-9]*"
_NOISE = re.compile(r"--$|-- (Name:|Dumped|PostgreSQL)|\\(un)?restrict|SET |SELECT pg_cat")
_NAMED_NOT_NULL = re.compile(r" CONSTRAINT \w+_not_null NOT NULL")
"""PostgreSQL 18 gives each NOT NULL a name; older ones have none."""


def dump(server: PostgresServer) -> str:
    """The schema of a migrated database. Raises `CalledProcessError` when pg_dump fails."""
    name = server.create()
    try:
        done = subprocess.run(
            [
                server.embedded.binaries.directory / "pg_dump",
                "--schema-only",
                "--no-owner",
                "--no-privileges",
                f"--exclude-table={_MONTHS}",
                f"--dbname={server.of(name)}",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        server.drop(name)
    return _HEADER + _normalised(done.stdout)


def _normalised(text: str) -> str:
    """The dump without what differs between versions or says nothing."""
    lines = [line for line in text.splitlines() if not _NOISE.match(line)]
    joined = _NAMED_NOT_NULL.sub(" NOT NULL", "\n".join(lines))
    return re.sub(r"\n{3,}", "\n\n", joined).strip() + "\n"


if __name__ == "__main__":
    with running_server() as _server:
        FILE.write_text(dump(_server), encoding="utf-8")
