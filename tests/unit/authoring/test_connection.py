"""Connections survive every written form unchanged, and no error shows what is secret."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flow.authoring import runtime
from flow.authoring.connection import Connection, ConnectionAccessor, connection_from_env_value
from flow.errors import InvalidConnection, NotFound
from support.runtime import MemoryRuntime

text = st.none() | st.text() | st.text(alphabet="/@:#%+ ?&=[]\x00é\U0001f511", max_size=8)
hosts = text | st.ip_addresses().map(str) | text.map(lambda host: f"https://{host}")
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["5", "true", "null", "{}", "NaN", '"x"', " ", "+", "a@b#c"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
extras = st.none() | st.dictionaries(st.text() | st.just("__extra__"), json_values, max_size=4).map(
    json.dumps
)
types = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_.+-]{0,12}", fullmatch=True)
connections = st.builds(
    Connection,
    conn_id=st.just("db"),
    conn_type=types,
    host=hosts,
    login=text,
    password=text,
    schema=text,
    port=st.none() | st.integers(0, 65535),
    extra=extras,
)


@settings(max_examples=500)
@given(connections)
def test_a_uri_brings_every_field_back(connection: Connection) -> None:
    uri = connection.get_uri()
    assert uri.isascii()
    assert Connection.from_uri("db", uri) == connection
    assert connection_from_env_value("db", f" {uri}\n") == connection


@settings(max_examples=500)
@given(connections, text)
def test_json_brings_every_field_back(connection: Connection, description: str | None) -> None:
    connection.description = description or None
    assert connection_from_env_value("db", connection.to_json()) == connection
    assert Connection.from_json("db", connection.to_json()) == connection


@pytest.mark.parametrize(
    ("uri", "fields"),
    [
        (
            "postgresql://me:p%2Fw@db.example:5432/sales?sslmode=require&timeout=5&ssl=true",
            {
                "conn_type": "postgres",
                "host": "db.example",
                "login": "me",
                "password": "p/w",
                "port": 5432,
                "schema": "sales",
                "extra": '{"sslmode": "require", "timeout": 5, "ssl": true}',
            },
        ),
        ("google-cloud-platform://", {"conn_type": "google_cloud_platform"}),
        ("google_cloud_platform://", {"conn_type": "google_cloud_platform"}),
        ("http://https://api.example:8443/v1", {"host": "https://api.example", "port": 8443}),
        ("pg://[2001:db8::1]:5432/x", {"host": "2001:db8::1", "port": 5432, "schema": "x"}),
        ("pg://Host.Example", {"host": "Host.Example"}),
        ("pg://me:a:b@c@h", {"login": "me", "password": "a:b@c", "host": "h"}),
        ("pg://u:a+b@h?x=a+b&y=a%2Bb", {"password": "a+b", "extra": '{"x": "a b", "y": "a+b"}'}),
        ("  pg://u:p@h  ", {"login": "u", "password": "p", "host": "h"}),
        ("aws://?__extra__=%7B%22a%22%3A%7B%22b%22%3A1%7D%7D", {"extra": '{"a": {"b": 1}}'}),
        ("pg://:secret@", {"login": None, "password": "secret", "host": None}),
        ("mail://me%40corp.example:p@smtp", {"login": "me@corp.example"}),
    ],
)
def test_a_uri_is_read_by_the_written_rules(uri: str, fields: dict[str, Any]) -> None:
    connection = Connection.from_uri("c", uri)
    assert {name: getattr(connection, name) for name in fields} == fields


SECRET = "hunter2"


@pytest.mark.parametrize(
    ("form", "hint"),
    [
        (f"s3://key:{SECRET}/with/slash@b", "%2F"),
        (f"s3://key:1{SECRET}/x@b", "%2F"),
        (f"s3://key:12/{SECRET}@b", "%2F"),
        (f"pg://me:{SECRET}#x@h", "%23"),
        (f"pg://me:{SECRET}%x@h", "%25"),
        (f"pg://me:{SECRET}%ff@h", "UTF-8"),
        (f"pg://me:{SECRET}@h:port", "%2F"),
        (f"pg://me:{SECRET}@h:70000", "65535"),
        (f"pg://me:{SECRET}@::1/db", "brackets"),
        (f"pg://me:{SECRET}@[nonsense]/db", "type://"),
        (f"me:{SECRET}@h", "type://"),
        (f"p g://me:{SECRET}@h", "type://"),
        (f"pg://h?__extra__=%5B%22{SECRET}%22%5D", "object"),
        (f"pg://h?__extra__=%7B%7D&b={SECRET}", "all into one"),
        (f'{{"password": "{SECRET}"', "conn_type"),
        (f'{{"passwort": "{SECRET}"}}', "conn_type"),
        (f'{{"conn_type": "pg", "password": ["{SECRET}"]}}', "quotes"),
        (f'{{"conn_type": "pg", "extra": "{SECRET}"}}', "sslmode"),
        (f'{{"conn_type": "{SECRET}!"}}', "letters"),
        (f'{{"conn_type": "pg", "port": "{SECRET}"}}', "65535"),
        (f'{{"conn_type": "pg", "password": "{SECRET}\\ud800"}}', "half a character"),
        (f'{{"conn_type": "pg", "extra": {{"x": 1e999, "y": "{SECRET}"}}}}', "object"),
    ],
)
def test_an_error_names_the_connection_and_never_its_secret(form: str, hint: str) -> None:
    with pytest.raises(InvalidConnection) as caught:
        connection_from_env_value("warehouse", form)
    error = caught.value
    assert "'warehouse'" in error.message
    assert SECRET not in f"{error.message}{error.hint}{error.args}"
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    assert hint in f"{error.message} {error.hint}"


def test_repr_hides_password_and_extra() -> None:
    connection = Connection("c", "pg", "h", "me", SECRET, extra={"token": SECRET})  # type: ignore[arg-type]
    assert SECRET not in repr(connection)
    assert "login='me'" in repr(connection)
    assert SECRET not in str(connection)


def test_extra_keeps_types() -> None:
    connection = Connection.from_json("c", '{"conn_type": "x", "extra": {"a": [1, "1", null]}}')
    assert connection.extra_dejson == {"a": [1, "1", None]}
    assert Connection("c", "x").extra_dejson == {}


def test_a_connection_without_type_has_no_uri() -> None:
    with pytest.raises(InvalidConnection, match="no type"):
        Connection("c", host="h").get_uri()


@pytest.fixture
def memory() -> Any:
    memory = MemoryRuntime(connections={"db": '{"conn_type": "pg", "password": "x"}'})
    runtime.use(memory)
    yield memory
    runtime.use(None)


def test_a_stored_connection_is_found(memory: MemoryRuntime) -> None:
    assert Connection.get("db").password == "x"
    assert ConnectionAccessor().db.password == "x"
    assert ConnectionAccessor().get("none", "default") == "default"
    with pytest.raises(NotFound, match="none"):
        Connection.get("none")
