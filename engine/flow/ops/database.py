"""`flow db`: the schema, its state, the invariants, and a shell."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from psycopg.conninfo import conninfo_to_dict

from flow.errors import UsageError
from flow.ops.deployment import Deployment
from flow.store import clock, invariants, locate, migrate
from flow.store.connect import connect
from flow.store.invariants import Breach
from flow.store.read import status

if TYPE_CHECKING:
    from flow.settings import Settings

_SERVICE: Final = "flow"
CHECK_TIMEOUT: Final = 600.0
"""Seconds that one statement of the check may take."""


class Migrated(NamedTuple):
    """Revisions of the schema; `before` is null for a database that had none."""

    before: str | None
    after: str


class SchemaStatus(NamedTuple):
    """Where the schema stands. `usable`: this version of Flow can work with it."""

    revision: str | None
    needed: str
    newest: str
    usable: bool
    migrated: bool
    version: str
    size_bytes: int
    embedded: bool


class Shell(NamedTuple):
    """A program to become, with its environment; the login is in neither argv nor environment."""

    program: str
    arguments: list[str]
    environment: dict[str, str]


def migrate_schema(settings: Settings) -> Migrated:
    """Bring the schema to this version; an embedded database is made when there is none."""
    return Migrated(*migrate.migrate(locate.direct_dsn(settings)))


def schema_status(settings: Settings) -> SchemaStatus:
    """Where the schema stands, also when it does not fit."""
    with connect(locate.dsn(settings), name="command") as conn:
        found = status.database(conn)
        revision = migrate.revision(conn)
    return SchemaStatus(
        revision=revision,
        needed=migrate.NEEDED,
        newest=migrate.HEAD,
        usable=revision is not None and revision >= migrate.NEEDED,
        migrated=revision is not None and revision >= migrate.HEAD,
        version=found.version,
        size_bytes=found.size_bytes,
        embedded=settings.database.url is None,
    )


def check(deployment: Deployment, days: float | None) -> list[Breach]:
    """What breaks an invariant, with finished runs of the last `days` (None: of all time)."""
    with deployment.snapshot(statement_timeout=CHECK_TIMEOUT):
        since = None if days is None else clock.now(deployment.conn) - timedelta(days=days)
        return invariants.breaches(deployment.conn, since)


def shell(settings: Settings, arguments: list[str]) -> Shell:
    """How to become `psql` on this deployment's database. Raises `UsageError` without psql."""
    dsn = settings.database.direct_url or locate.dsn(settings)
    if settings.database.url is None:
        program = str(locate.embedded(settings).psql)
    else:
        program = shutil.which("psql") or ""
    if not program or not Path(program).exists():
        raise UsageError("there is no psql on this machine", "install PostgreSQL's client programs")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    kept.pop("FLOW_DATABASE_URL", None)
    kept.pop("FLOW_DATABASE_DIRECT_URL", None)
    environment = {**kept, "PGSERVICE": _SERVICE, "PGSERVICEFILE": _service_file(dsn)}
    return Shell(program, [program, *arguments], environment)


def _service_file(dsn: str) -> str:
    """The login as a libpq service, in memory and inherited by the program: never on a disk."""
    fields = {name: value for name, value in conninfo_to_dict(dsn).items() if value is not None}
    text = "".join([f"[{_SERVICE}]\n", *(f"{name}={value}\n" for name, value in fields.items())])
    descriptor = os.memfd_create("flow-service", 0)
    os.write(descriptor, text.encode())
    return f"/dev/fd/{descriptor}"
