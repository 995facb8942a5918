"""`flow vars`. Values are encrypted at rest and never in the audit."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

from flow.ops import keyring
from flow.ops.deployment import Deployment
from flow.ops.exchange import Existing, Imported, VariableText, read_object, variables_in
from flow.ops.stored_secrets import Kind, as_json
from flow.secrets import lookup, names
from flow.secrets.keys import Keys
from flow.secrets.lookup import FoundVariable
from flow.store import variables
from flow.store.read.page import Page, Total
from flow.store.variables import StoredVariable

_KIND: Final = Kind("variable", "vars", variables)


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
    return _KIND.get(deployment, key, lookup.variable)


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
    _KIND.delete(deployment, key)


def require(deployment: Deployment, key: str) -> None:
    """Raise `NotFound` unless the store has the variable."""
    _KIND.require(deployment, key)


def export(deployment: Deployment) -> str:
    """All variables of the store as JSON: key → {"value": …, "description": …}."""
    with deployment.snapshot():
        rows, _ = variables.page(deployment.conn, None)
    return as_json(deployment, {row.key: row for row in rows}, _plain)


def import_(deployment: Deployment, text: str, policy: Existing) -> Imported:
    """Store the variables of a JSON object (`exchange.variables_in`), all or none."""

    def set_one(keys: Keys, key: str, one: VariableText) -> None:
        variables.set_(deployment.conn, key, keys.encrypt(one.value), one.description)

    given = variables_in(read_object(text, "the file of variables"))
    return _KIND.store(deployment, given, policy, set_one)


def _plain(keys: Keys, row: StoredVariable) -> dict[str, Any]:
    value = keys.decrypt(row.value, f"variable {row.key!r}")
    return {"value": value, "description": row.description}
