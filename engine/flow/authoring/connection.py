"""Connections: where another system is and how to log in, stored encrypted, kept by `flow conns`.

A connection has three written forms: its fields, a URI (`flow.authoring.connection_uri`) and a JSON
object with the fields as keys, where `extra` may be an object.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from typing import Any, Final

from flow.authoring import connection_uri, runtime
from flow.errors import InvalidConnection, NotFound

_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9_.+]*\Z")
_TEXTS: Final = ("host", "login", "password", "schema", "description")
_MAX_PORT: Final = 65535


@dataclass(repr=False)
class Connection:
    """One connection. Empty texts count as absent (None).

    `conn_type` is written in lower case with `_` for `-`, and `postgresql` as `postgres`; `extra`
    is the JSON text of an object, and an object is taken too. Raises `InvalidConnection`, which
    names the connection but nothing that may be secret.
    """

    conn_id: str | None = None
    conn_type: str | None = None
    host: str | None = None
    login: str | None = None
    password: str | None = None
    schema: str | None = None
    port: int | None = None
    extra: str | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        for name in _TEXTS:
            self._check_text(name)
        if self.conn_type is not None:
            self.conn_type = self._legal_type(self.conn_type)
        if self.port is not None:
            self.port = self._legal_port(self.port)
        if self.extra is not None:
            self.extra = self._legal_extra(self.extra)

    @classmethod
    def get(cls, conn_id: str) -> Connection:
        """The stored connection `conn_id`; `NotFound` when there is none."""
        return cls.from_json(conn_id, runtime.current().get_connection(conn_id))

    @classmethod
    def from_uri(cls, conn_id: str | None, uri: str) -> Connection:
        """The connection that a URI describes."""
        try:
            parts = connection_uri.parse(uri)
        except connection_uri.Malformed as error:
            raise _invalid(conn_id, f"its URI is wrong: {error}", error.hint) from None
        return cls(conn_id=conn_id, **parts._asdict())

    @classmethod
    def from_json(cls, conn_id: str | None, text: str) -> Connection:
        """The connection that a JSON object describes."""
        try:
            given = json.loads(text)
        except ValueError:
            # The parser's message quotes the text, which holds the password.
            raise _invalid(conn_id, "its JSON cannot be parsed", _JSON_HINT) from None
        if not isinstance(given, dict):
            raise _invalid(conn_id, "its JSON is not an object", _JSON_HINT)
        known = {field.name for field in fields(cls)} - {"conn_id"}
        unknown = sorted(given.keys() - known - {"conn_id"})
        if unknown:
            raise _invalid(conn_id, f"its JSON has an unknown key {unknown[0]!r}", _JSON_HINT)
        return cls(conn_id=conn_id, **{name: given[name] for name in known & given.keys()})

    def get_uri(self) -> str:
        """The URI: every field but `conn_id` and `description`, which is a note for people."""
        if self.conn_type is None:
            raise _invalid(self.conn_id, "it has no type, so it has no URI", "set its conn_type")
        return connection_uri.build(
            connection_uri.Parts(
                conn_type=self.conn_type,
                host=self.host,
                login=self.login,
                password=self.password,
                schema=self.schema,
                port=self.port,
                extra=self.extra,
            )
        )

    def to_json(self) -> str:
        """The JSON form: the fields that are set, without `conn_id`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.extra is not None:
            values["extra"] = self.extra_dejson
        del values["conn_id"]
        return json.dumps({name: value for name, value in values.items() if value is not None})

    @property
    def extra_dejson(self) -> dict[str, Any]:
        """`extra` as an object; empty when there is none. Changing it changes nothing."""
        return json.loads(self.extra) if self.extra else {}

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in ("conn_type", "host", "port", "schema")}
        shown["login"] = self.login
        text = [f"{name}={value!r}" for name, value in shown.items() if value is not None]
        hidden = [f"{name}='***'" for name in ("password", "extra") if getattr(self, name)]
        return f"Connection({', '.join([repr(self.conn_id), *text, *hidden])})"

    def __str__(self) -> str:
        return self.conn_id or ""

    def _check_text(self, name: str) -> None:
        value = getattr(self, name)
        if value is None or value == "":
            setattr(self, name, None)
            return
        if not isinstance(value, str):
            raise _invalid(self.conn_id, f"its {name} is not text", f"write {name} in quotes")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _invalid(
                self.conn_id, f"its {name} is not valid Unicode text", "it holds half a character"
            ) from None

    def _legal_type(self, conn_type: object) -> str | None:
        legal = normal_type(conn_type) if isinstance(conn_type, str) else ""
        if legal is not None and not _TYPE.match(legal):
            raise _invalid(
                self.conn_id,
                "its type is not legal",
                "use ASCII letters, digits, '_', '.' and '+', as in postgres or google_cloud",
            )
        return legal

    def _legal_port(self, port: object) -> int:
        if isinstance(port, str) and port.isascii() and port.isdigit():
            port = int(port)
        if type(port) is not int or not 0 <= port <= _MAX_PORT:
            raise _invalid(
                self.conn_id, "its port is not a number", f"use a number from 0 to {_MAX_PORT}"
            )
        return port

    def _legal_extra(self, extra: object) -> str | None:
        try:
            value = connection_uri.strict_json(extra) if isinstance(extra, str) and extra else extra
            if value == "" or value == {}:
                return None
            text = json.dumps(value, allow_nan=False)
            # A dict that JSON does not keep, for instance with int keys, is no JSON object either.
            if isinstance(value, dict) and json.loads(text) == value:
                return text
        except (ValueError, TypeError):
            pass
        raise _invalid(
            self.conn_id,
            "its extra is not a JSON object",
            'write extra as an object, for instance {"sslmode": "require"}',
        )


_JSON_HINT: Final = (
    "write an object with the keys conn_type, host, login, password, schema, port, extra"
)


def normal_type(conn_type: str) -> str | None:
    """A type as it is stored: lower case, `_` for `-`, `postgres` for `postgresql`."""
    normal = conn_type.strip().lower().replace("-", "_")
    return "postgres" if normal == "postgresql" else normal or None


def connection_from_env_value(conn_id: str, text: str) -> Connection:
    """The connection in an environment variable `FLOW_CONN_…`: a JSON object, else a URI.

    Text whose first character that is not white space is `{` is JSON; a URI never starts so.
    """
    text = text.strip()
    if text.startswith("{"):
        return Connection.from_json(conn_id, text)
    return Connection.from_uri(conn_id, text)


def _invalid(conn_id: str | None, what: str, hint: str) -> InvalidConnection:
    name = f"connection {conn_id!r}" if conn_id else "the connection"
    return InvalidConnection(f"{name}: {what}", hint)


class ConnectionAccessor:
    """`conn.my_database` in templates, asked for when it is used."""

    def __getitem__(self, conn_id: str) -> Connection:
        return Connection.get(conn_id)

    def __getattr__(self, conn_id: str) -> Connection:
        if conn_id.startswith("__"):
            # copy, pickle and Jinja look for such names; none of them is a connection's id.
            raise AttributeError(conn_id)
        return self[conn_id]

    def get(self, conn_id: str, default: Any = None) -> Any:
        """The connection, or `default` when it does not exist."""
        try:
            return self[conn_id]
        except NotFound:
            return default

    def __repr__(self) -> str:
        return "conn"
