"""`flow vars`. Values are encrypted at rest and never in the audit."""

from __future__ import annotations

import json
from datetime import datetime
from typing import NamedTuple

from flow.errors import NotFound
from flow.ops import keyring
from flow.ops.deployment import Deployment
from flow.ops.exchange import Existing, Imported, read_object, settle, variables_in
from flow.ops.suggest import did_you_mean
from flow.secrets import lookup, names
from flow.secrets.lookup import FoundVariable
from flow.store import variables
from flow.store.connect import Conn
from flow.store.read.page import Page, Total


class VariableRow(NamedTuple):
    """A variable as lists show it: without its value."""

    key: str
    description: str
    updated_at: datetime


def page(deployment: Deployment, limit: int | None = None) -> Page[VariableRow]:
    """Variables of the store."""
    with deployment.snapshot():
        rows, count = variables.page(deployment.conn, limit)
    return Page(
        [VariableRow(row.key, row.description, row.updated_at) for row in rows], Total(count)
    )


def get(deployment: Deployment, key: str) -> FoundVariable:
    """A variable as a task on this machine would get it. Raises `NotFound`."""
    with deployment.snapshot():
        try:
            return lookup.variable(deployment.conn, lambda: keyring.for_reading(deployment), key)
        except NotFound as error:
            raise NotFound(error.message, _near(deployment.conn, key, error.hint)) from None


def set_(deployment: Deployment, key: str, value: str, description: str | None = None) -> bool:
    """Make or overwrite a variable; whether it is new. No description: the old one stays."""
    names.check_key(key)
    with deployment.change("vars.set") as change:
        existed = bool(variables.existing(deployment.conn, [key]))
        keys = keyring.for_writing(deployment)
        variables.set_(deployment.conn, key, keys.encrypt(value), description)
        change.log(key, {"exists": existed}, {"exists": True})
    return not existed


def delete(deployment: Deployment, key: str) -> None:
    """Delete a variable. Raises `NotFound`."""
    with deployment.change("vars.delete") as change:
        if not variables.delete(deployment.conn, key):
            raise _unknown(deployment.conn, key)
        change.log(key, {"exists": True}, {"exists": False})


def require(deployment: Deployment, key: str) -> None:
    """Raise `NotFound` unless the store has the variable."""
    with deployment.snapshot():
        if variables.one(deployment.conn, key) is None:
            raise _unknown(deployment.conn, key)


def export(deployment: Deployment) -> str:
    """All variables of the store as JSON: key → {"value": …, "description": …}."""
    with deployment.snapshot():
        rows, _ = variables.page(deployment.conn, None)
    keys = keyring.for_reading(deployment) if rows else None
    exported = {
        row.key: {
            "value": keys.decrypt(row.value, f"variable {row.key!r}"),
            "description": row.description,
        }
        for row in rows
        if keys is not None
    }
    return json.dumps(exported, indent=2, ensure_ascii=False) + "\n"


def import_(deployment: Deployment, text: str, policy: Existing) -> Imported:
    """Store the variables of a JSON object (`exchange.variables_in`), all or none."""
    given = variables_in(read_object(text, "the file of variables"))
    with deployment.change("vars.import") as change:
        existing = variables.existing(deployment.conn, list(given))
        written = settle(list(given), existing, policy, "variables")
        keys = keyring.for_writing(deployment) if written else None
        for key in written:
            if keys is not None:
                value, description = given[key]
                variables.set_(deployment.conn, key, keys.encrypt(value), description)
            change.log(key, {"exists": key in existing}, {"exists": True})
    return Imported(written, [key for key in given if key not in written])


def _unknown(conn: Conn, key: str) -> NotFound:
    hint = _near(conn, key, "`flow vars list` shows all variables")
    return NotFound(f"there is no variable {key!r}", hint)


def _near(conn: Conn, key: str, otherwise: str) -> str:
    rows, _ = variables.page(conn, None)
    return did_you_mean(key, [row.key for row in rows], otherwise)
