"""Who did what, newest first."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

from flow.store.connect import Conn
from flow.store.read.page import COUNTED, Page, number, page_of, total


class AuditEntry(NamedTuple):
    """One thing that an operation changed, written in the change's own transaction."""

    audit_id: int
    at: datetime
    os_user: str
    db_role: str
    host: str
    verb: str
    target: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class Wanted(NamedTuple):
    """Which entries are meant. `who` is a user of the system or a role of the database."""

    dag_id: str | None = None
    who: str | None = None
    since: datetime | None = None


OF_DAG: Final = """(target collate "C" = %(dag_id)s or target collate "C" >= %(dag_id)s || '/'
      and target collate "C" < %(dag_id)s || '0')"""
"""That an entry is about a DAG or something of it; index audit_target."""

_COLUMNS = "a.audit_id, a.at, a.os_user, a.db_role, a.host, a.verb, a.target, a.before, a.after"

# Left out when they are not asked for, so that the planner sees which index fits: audit_target,
# audit_at, or the primary key. Targets of other kinds may have the name of a DAG.
_CONDITIONS: Final = {
    "dag_id": f"{OF_DAG} and split_part(a.verb, '.', 1) not in ('vars', 'conns', 'pools')",
    "who": "%(who)s in (a.os_user, a.db_role)",
    "since": "a.at >= %(since)s",
}


def page(conn: Conn, wanted: Wanted, limit: int | None) -> Page[AuditEntry]:
    """Entries, newest first."""
    listed = behind(conn, wanted, None, limit)
    conditions, asked = _matching(wanted)
    matching = f"select from audit a where {conditions} limit {COUNTED + 1}"
    count = f"select count(*) from ({matching}) as c"
    return page_of(listed, limit, lambda: total(number(conn, count, asked)))


def behind(
    conn: Conn, wanted: Wanted, last: AuditEntry | None, limit: int | None
) -> list[AuditEntry]:
    """The entries that are older than one; None: the newest ones."""
    conditions, asked = _matching(wanted)
    if last is not None:
        conditions += " and a.audit_id < %(last)s"
        asked["last"] = last.audit_id
    rows = conn.execute(
        f"select {_COLUMNS} from audit a where {conditions} order by a.audit_id desc "
        "limit %(limit)s",
        {**asked, "limit": limit},
    )
    return [AuditEntry._make(row) for row in rows]


def _matching(wanted: Wanted) -> tuple[str, dict[str, Any]]:
    """The condition for entries like this, and the values in it."""
    asked = {name: value for name, value in wanted._asdict().items() if value is not None}
    return " and ".join(_CONDITIONS[name] for name in asked) or "true", asked
