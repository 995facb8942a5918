"""Files of variables and connections: what happens to names that exist, and reading JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from flow.authoring.connection import Connection
from flow.errors import Conflict, UsageError
from flow.secrets import names


class Existing(StrEnum):
    """What an import does with a name that exists already."""

    FAIL = "fail"
    SKIP = "skip"
    OVERWRITE = "overwrite"


class Imported(NamedTuple):
    """The names that an import wrote, and those it left as they were."""

    written: list[str]
    skipped: list[str]


def read_object(text: str, what: str) -> dict[str, Any]:
    """The JSON object in a text. Raises `UsageError`, which quotes nothing of it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise UsageError(f"{what} is not JSON{place}", "see what an export looks like") from None
    if not isinstance(value, dict):
        raise UsageError(f"{what} is not a JSON object", "its keys are the names")
    return value


class VariableText(NamedTuple):
    """A variable of a file."""

    value: str
    description: str | None


def variables_in(given: Mapping[str, Any]) -> dict[str, VariableText]:
    """The variables of an object, by key.

    A value is a text, an object with `value` and `description` as an export writes it, or anything
    else, which stands for its JSON text. Raises `UsageError`.
    """
    return {names.check_key(key): _variable(key, value) for key, value in given.items()}


def connections_in(given: Mapping[str, Any]) -> dict[str, Connection]:
    """The connections of an object, by id. A value is an object or a URI. Raises `UsageError`."""
    return {
        names.check_conn_id(conn_id): _connection(conn_id, value)
        for conn_id, value in given.items()
    }


def _variable(key: str, value: Any) -> VariableText:
    if isinstance(value, dict) and "value" in value and value.keys() <= {"value", "description"}:
        description = value.get("description")
        if description is not None and not isinstance(description, str):
            raise UsageError(f"variable {key!r}: its description is not text", "write it in quotes")
        return VariableText(_text(value["value"]), description)
    return VariableText(_text(value), None)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _connection(conn_id: str, value: Any) -> Connection:
    if isinstance(value, str):
        return Connection.from_uri(conn_id, value)
    if isinstance(value, dict):
        return Connection.from_json(conn_id, json.dumps(value))
    raise UsageError(
        f"connection {conn_id!r} is neither an object nor a URI", "see what an export looks like"
    )


def settle(wanted: list[str], existing: list[str], policy: Existing, noun: str) -> list[str]:
    """The names to write. Raises `Conflict` naming those that exist, where the policy says so."""
    if existing and policy is Existing.FAIL:
        shown = ", ".join(existing[:5]) + (", …" if len(existing) > 5 else "")
        raise Conflict(
            f"{len(existing)} {noun} already exist: {shown}",
            "add --existing skip or --existing overwrite; nothing was changed",
        )
    kept = set(existing) if policy is Existing.SKIP else set()
    return [name for name in wanted if name not in kept]
