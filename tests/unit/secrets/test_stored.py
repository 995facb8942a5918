"""Whatever a connection holds comes back from the store as it was."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.fernet import Fernet
from hypothesis import given, settings
from hypothesis import strategies as some

from flow.authoring.connection import Connection
from flow.errors import UsageError
from flow.secrets.keys import Keys
from flow.secrets.stored import seal, unseal
from flow.store.connections import StoredConnection

KEYS = Keys([Fernet(Fernet.generate_key())], "here")
TEXT = some.none() | some.text(some.characters(codec="utf-8"), max_size=30)
JSON_VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=10),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=500)
@given(
    login=TEXT,
    password=TEXT,
    host=TEXT | some.ip_addresses(v=6).map(str),
    schema=TEXT,
    description=TEXT,
    port=some.none() | some.integers(0, 65535),
    extra=some.dictionaries(some.text(max_size=10), JSON_VALUES, max_size=4),
)
def test_every_field_comes_back(**fields: Any) -> None:
    fields["extra"] = json.dumps(fields["extra"])
    connection = Connection(conn_id="it", conn_type="postgres", **fields)
    conn_type, secret, description = seal(connection, KEYS)
    row = StoredConnection("it", conn_type, secret, description, datetime.now(UTC))
    assert unseal(row, KEYS) == connection


def test_a_connection_without_a_type_is_not_stored() -> None:
    with pytest.raises(UsageError, match="connection 'it' has no type"):
        seal(Connection("it", host="h"), KEYS)
