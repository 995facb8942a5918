"""Who did what: one row for each thing that an operation changed, written in its transaction."""

from __future__ import annotations

import os
import pwd
import socket
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from psycopg.types.json import Jsonb

from flow.store.connect import Conn

Facts = Mapping[str, object]


class Entry(NamedTuple):
    """One change. `before` and `after` are JSON objects and never hold a secret."""

    verb: str
    """As on the command line, with dots: `dags.pause`."""
    target: str
    """What was changed, outermost first, with slashes: `sales/manual__2026-10-09T…/load`, or
    `sales/backfill:7`."""
    before: Facts | None = None
    after: Facts | None = None


_ADD = """
insert into audit (os_user, host, verb, target, before, after)
select %(user)s::text, %(host)s::text, verb, target, before, after
from unnest(%(verbs)s::text[], %(targets)s::text[], %(befores)s::jsonb[], %(afters)s::jsonb[])
  as e(verb, target, before, after)
"""


def record(conn: Conn, entries: Sequence[Entry]) -> None:
    """Write entries with the operating system's user and host of this process."""
    if not entries:
        return
    conn.execute(
        _ADD,
        {
            "user": os_user(),
            "host": socket.gethostname(),
            "verbs": [entry.verb for entry in entries],
            "targets": [entry.target for entry in entries],
            "befores": [_json(entry.before) for entry in entries],
            "afters": [_json(entry.after) for entry in entries],
        },
    )


def os_user() -> str:
    """The user that this process runs as: by the system, since anybody can set $USER."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def _json(facts: Facts | None) -> Jsonb | None:
    return None if facts is None else Jsonb(dict(facts))
