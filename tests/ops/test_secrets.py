"""Variables and connections: encrypted at rest, found in the environment first, never leaked."""

from __future__ import annotations

import json

import pytest

from flow.authoring.connection import Connection
from flow.errors import ConfigError, Conflict, NotFound, UsageError
from flow.ops import connections, reach, variables
from flow.ops.exchange import Existing
from operations_world import World

SECRET = "p@ss/w:rd# %+ü"


def everything_stored(world: World) -> str:
    """All rows of the tables that could hold a secret, as text."""
    return str(
        [world.rows(f"select * from {table}") for table in ("variable", "connection", "audit")]
    )


def warehouse(**fields: object) -> Connection:
    return Connection(
        conn_id="warehouse",
        conn_type="postgres",
        host="db.example",
        login="etl",
        password=SECRET,
        schema="sales",
        port=5433,
        extra='{"sslmode": "require", "nested": {"n": 1, "token": "t0k"}}',
        **fields,  # type: ignore[arg-type]
    )


def test_a_variable_comes_back_and_is_not_readable_in_the_database(world: World) -> None:
    assert variables.set_(world.deployment, "token", SECRET, "for the API")
    assert not variables.set_(world.deployment, "token", SECRET)
    found = variables.get(world.deployment, "token")
    assert found == ("token", SECRET, "for the API", "store")
    assert SECRET not in everything_stored(world)
    assert [row[0] for row in world.rows("select verb from audit")] == ["vars.set", "vars.set"]


def test_the_environment_goes_before_the_store(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables.set_(world.deployment, "sales-region", "eu")
    connections.add(world.deployment, warehouse())
    monkeypatch.setenv("FLOW_VAR_SALES_REGION", "us")
    monkeypatch.setenv("FLOW_CONN_WAREHOUSE", "mysql://u:p%2Fw@h/db")
    monkeypatch.setenv("FLOW_CONN_OTHER", '{"conn_type": "http", "host": "x"}')
    assert variables.get(world.deployment, "sales-region")[1:] == (
        *("us", ""),
        "FLOW_VAR_SALES_REGION",
    )
    found = connections.get(world.deployment, "warehouse")
    assert (found.connection.password, found.origin) == ("p/w", "FLOW_CONN_WAREHOUSE")
    assert connections.get(world.deployment, "other").connection.host == "x"
    monkeypatch.setenv("FLOW_CONN_WAREHOUSE", "")
    assert connections.get(world.deployment, "warehouse").origin == "store"


def test_a_connection_comes_back_with_every_field(world: World) -> None:
    stored = warehouse(description="The warehouse")
    connections.add(world.deployment, stored)
    assert connections.get(world.deployment, "warehouse").connection == stored
    text = everything_stored(world)
    for hidden in (SECRET, "etl", "db.example", "t0k"):
        assert hidden not in text


def test_what_is_secret_is_masked_unless_revealed(world: World) -> None:
    connections.add(world.deployment, warehouse())
    found = connections.get(world.deployment, "warehouse")
    masked = connections.record(found, reveal=False)
    assert (masked.password, masked.uri) == ("***", None)
    assert masked.extra == {"sslmode": "***", "nested": {"n": 1, "token": "***"}}
    revealed = connections.record(found, reveal=True)
    assert revealed.password == SECRET
    assert revealed.uri is not None
    assert Connection.from_uri("warehouse", revealed.uri) == found.connection


def test_adding_twice_is_a_conflict_unless_it_is_to_be_replaced(world: World) -> None:
    connections.add(world.deployment, warehouse())
    with pytest.raises(Conflict, match="connection 'warehouse' already exists"):
        connections.add(world.deployment, warehouse())
    connections.add(world.deployment, Connection("warehouse", "http"), replace=True)
    assert connections.get(world.deployment, "warehouse").connection.password is None


@pytest.mark.parametrize("conn_id", ["", "a/b", "..", ".x", "a b", "ñ"])
def test_an_id_outside_the_alphabet_is_refused(world: World, conn_id: str) -> None:
    with pytest.raises(UsageError, match="conn_id"):
        connections.add(world.deployment, Connection(conn_id, "http"))


def test_an_export_comes_back_as_it_was(world: World) -> None:
    variables.set_(world.deployment, "a", SECRET, "first")
    variables.set_(world.deployment, "b", '{"value": 1}')
    connections.add(world.deployment, warehouse(description="The warehouse"))
    exported = variables.export(world.deployment), connections.export(world.deployment)
    for key in ("a", "b"):
        variables.delete(world.deployment, key)
    connections.delete(world.deployment, "warehouse")
    assert variables.import_(world.deployment, exported[0], Existing.FAIL).written == ["a", "b"]
    connections.import_(world.deployment, exported[1], Existing.FAIL)
    assert (variables.export(world.deployment), connections.export(world.deployment)) == exported
    assert variables.get(world.deployment, "b").value == '{"value": 1}'


def test_an_import_is_all_or_nothing(world: World) -> None:
    variables.set_(world.deployment, "a", "old")
    given = json.dumps({"a": "new", "b": {"x": [1, True]}, "c": 5})
    with pytest.raises(Conflict, match="1 variables already exist: a"):
        variables.import_(world.deployment, given, Existing.FAIL)
    assert world.value("select count(*) from variable") == 1
    skipped = variables.import_(world.deployment, given, Existing.SKIP)
    assert (skipped.written, skipped.skipped) == (["b", "c"], ["a"])
    values = [variables.get(world.deployment, key).value for key in "abc"]
    assert values == ["old", '{"x": [1, true]}', "5"]
    variables.import_(world.deployment, given, Existing.OVERWRITE)
    assert variables.get(world.deployment, "a").value == "new"


def test_a_description_that_no_column_can_hold_is_escaped(world: World) -> None:
    given = '{"a": {"value": "x\\u0000y", "description": "not\\u0000text"}}'
    variables.import_(world.deployment, given, Existing.FAIL)
    found = variables.get(world.deployment, "a")
    assert (found.value, found.description) == ("x\0y", r"not\x00text")


def test_a_broken_import_quotes_nothing(world: World) -> None:
    with pytest.raises(UsageError) as caught:
        connections.import_(world.deployment, '{"a": "' + SECRET, Existing.FAIL)
    assert SECRET not in caught.value.message + caught.value.hint


def test_secrets_of_another_key_are_not_parted_by_a_new_one(world: World) -> None:
    variables.set_(world.deployment, "a", "x")
    file = world.deployment.settings.secrets.key_file
    file.unlink()
    with pytest.raises(ConfigError, match="the database holds secrets of another key"):
        variables.set_(world.deployment, "b", "y")
    assert not file.exists()
    with pytest.raises(ConfigError, match="there is no key file"):
        variables.get(world.deployment, "a")


def test_what_is_missing_names_what_is_near(world: World) -> None:
    variables.set_(world.deployment, "region", "x")
    with pytest.raises(NotFound) as caught:
        variables.get(world.deployment, "regoin")
    assert caught.value.hint == "did you mean region?"
    for absent in (connections.get, connections.delete, connections.require):
        with pytest.raises(NotFound, match="there is no connection 'x'"):
            absent(world.deployment, "x")


def test_a_postgres_connection_is_tested_by_logging_in(world: World) -> None:
    fields = dict(pair.split("=") for pair in world.dsn.split())
    there = Connection(
        "it",
        "postgres",
        host=fields["host"],
        port=int(fields["port"]),
        login=fields["user"],
        schema=fields["dbname"],
    )
    reached = reach.reach(there)
    assert (reached.ok, reached.how) == (True, "login"), reached.message
    assert reached.message.startswith("logged in to PostgreSQL ")
    there.schema = "nowhere"
    refused = reach.reach(there)
    assert not refused.ok
    assert 'database "nowhere" does not exist' in refused.message


def test_a_connection_without_a_host_or_port_cannot_be_tested() -> None:
    with pytest.raises(UsageError, match="has no host"):
        reach.reach(Connection("x", "http"))
    with pytest.raises(UsageError, match="has no port"):
        reach.reach(Connection("x", "nosuch", host="127.0.0.1"))
