"""How the server is addressed: the socket's name, and libpq's keywords for a database."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PORT: Final = 5432
"""Part of the socket's name only; nothing listens on the network."""
ROLE: Final = "flow"
DATABASE: Final = "flow"


def socket_in(directory: Path) -> Path:
    """The path of the socket inside its directory."""
    return directory / f".s.PGSQL.{PORT}"


def dsn(directory: Path, role: str = ROLE, database: str = DATABASE) -> str:
    """libpq's keywords. The port is among them because it must overrule PGPORT."""
    return f"host={directory} port={PORT} user={role} dbname={database}"
