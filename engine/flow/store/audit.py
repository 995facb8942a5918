"""Who did what: one row for each thing that an operation changed, written in its transaction."""

from __future__ import annotations

import json
import os
import pwd
import socket
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flow.store import arrays
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
    user: str | None = None
    """For whom a role did it, a user of the operating system; None: who runs this process."""


_ADD = """
insert into audit (os_user, host, verb, target, before, after)
select coalesce(who, %(user)s::text), %(host)s::text, verb, target, before, after
from unnest(%(users)s::text[], %(verbs)s::text[], %(targets)s::text[], %(befores)s::jsonb[],
    %(afters)s::jsonb[])
  as e(who, verb, target, before, after)
"""


def record(conn: Conn, entries: Sequence[Entry]) -> None:
    """Write entries with the host of this process, and its user where they do not say another."""
    if not entries:
        return
    conn.execute(
        _ADD,
        {
            "user": os_user(),
            "host": socket.gethostname(),
            "users": arrays.texts(entry.user for entry in entries),
            "verbs": arrays.texts(entry.verb for entry in entries),
            "targets": arrays.texts(entry.target for entry in entries),
            "befores": arrays.texts(_json(entry.before) for entry in entries),
            "afters": arrays.texts(_json(entry.after) for entry in entries),
        },
    )


def os_user() -> str:
    """The user that this process runs as: by the system, since anybody can set $USER."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def _json(facts: Facts | None) -> str | None:
    return None if facts is None else json.dumps(dict(facts))
