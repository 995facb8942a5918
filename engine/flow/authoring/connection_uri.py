"""The URI of a connection: `type://login:password@host:port/schema?key=value`.

The written rules, all of which `build` keeps, so that parsing what it built gives the same parts:

- The type is the scheme: `-` becomes `_`, case does not matter, `postgresql` becomes `postgres`.
- `/ ? # @ % :` within login, password, host and schema are percent-encoded as UTF-8. A `:` in the
  password and an `@` before the host may also stand as they are: login ends at the first `:`,
  password at the last `@`. A `/` may stand in the schema.
- An `@` between the first `/` and the `?` is refused, because it nearly always means a `/` in the
  password that was not encoded. A `#` is refused, and a `%` without two hexadecimal digits.
- IPv6 addresses stand in brackets. `type://https://host` keeps the protocol in the host.
- Extras are the query. A value is JSON when it can be read as such (`timeout=5`, `ssl=true`), else
  text. `+` is a space in the query and itself everywhere else. Extras that are nested, or would
  be read as another type, are one JSON object under `__extra__`.
- White space around the URI does not count.
"""

from __future__ import annotations

import ipaddress
import json
import re
from typing import Any, Final, NamedTuple, NoReturn
from urllib.parse import quote, unquote

EXTRA_KEY: Final = "__extra__"

_SCHEME: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.+-]*)://(.*)\Z", re.DOTALL)
_PROTOCOL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.+)\Z", re.DOTALL)
_AUTHORITY_END: Final = re.compile(r"[/?]")
_STRAY_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_FORM: Final = "the form is type://login:password@host:port/schema?key=value"


class Malformed(ValueError):
    """A URI that breaks a rule. The text never quotes the URI, which holds a password."""

    def __init__(self, what: str, hint: str = _FORM) -> None:
        super().__init__(what)
        self.hint = hint


class Parts(NamedTuple):
    """What a URI holds; `extra` is the JSON text of an object."""

    conn_type: str
    host: str | None = None
    login: str | None = None
    password: str | None = None
    schema: str | None = None
    port: int | None = None
    extra: str | None = None


def parse(uri: str) -> Parts:
    """The parts of a URI; `Malformed` when it breaks a rule."""
    scheme = _SCHEME.match(uri.strip())
    if not scheme:
        raise Malformed("it does not start with a type and '://'")
    conn_type, rest = scheme.groups()
    if "#" in rest:
        raise Malformed("it has a '#'", "write '#' as %23")
    protocol = _PROTOCOL.match(rest)
    if protocol:
        rest = protocol[2]
    end = _AUTHORITY_END.search(rest)
    authority, tail = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    path, _, query = tail.partition("?")
    if "@" in path:
        raise Malformed(
            "it has an '@' after a '/'",
            "write '/' in login or password as %2F, and '@' in the schema as %40",
        )
    user, _, place = authority.rpartition("@")
    login, _, password = user.partition(":")
    host, port = _split_place(place)
    return Parts(
        conn_type=conn_type,
        host=f"{protocol[1]}://{host or ''}" if protocol else host,
        login=_decode(login),
        password=_decode(password),
        schema=_decode(path[1:]),
        port=port,
        extra=_parse_query(query),
    )


def build(parts: Parts) -> str:
    """The URI of `parts`."""
    uri = f"{parts.conn_type.replace('_', '-')}://"
    host = parts.host or ""
    protocol = _PROTOCOL.match(host)
    if protocol and "://" not in protocol[2]:
        uri += f"{protocol[1]}://"
        host = protocol[2]
    if parts.login or parts.password:
        uri += quote(parts.login or "", safe="")
        if parts.password:
            uri += f":{quote(parts.password, safe='')}"
        uri += "@"
    uri += f"[{host}]" if _is_ipv6(host) else quote(host, safe="")
    if parts.port is not None:
        uri += f":{parts.port}"
    if parts.schema:
        uri += f"/{quote(parts.schema, safe='')}"
    if parts.extra:
        uri += f"?{_build_query(parts.extra)}"
    return uri


def strict_json(text: str) -> Any:
    """The value of JSON text; `ValueError` also for NaN and numbers beyond a float."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    value = json.loads(text, parse_constant=refuse)
    json.dumps(value, allow_nan=False)  # 1e999 is read as infinity
    return value


def _split_place(place: str) -> tuple[str | None, int | None]:
    if place.startswith("["):
        address, bracket, rest = place[1:].partition("]")
        if not bracket or not _is_ipv6(address) or (rest and not rest.startswith(":")):
            raise Malformed("its host in brackets is not an IPv6 address")
        return address, _port(rest[1:])
    host, _, port = place.partition(":")
    if ":" in port:
        raise Malformed(
            "its host has several ':'",
            "write an IPv6 address in brackets, and ':' in a password as %3A with an '@' after it",
        )
    return _decode(host), _port(port)


def _port(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit()):
        raise Malformed(
            "its port is not a number",
            "if a password stands there, write '/' in it as %2F, '?' as %3F and '@' as %40",
        )
    return int(text)


def _is_ipv6(host: str) -> bool:
    try:
        # A zone may hold any character, so it could end the brackets or the host.
        return "%" not in host and bool(ipaddress.IPv6Address(host))
    except ValueError:
        return False


def _decode(text: str) -> str | None:
    if _STRAY_PERCENT.search(text):
        raise Malformed("it has a '%' without two hexadecimal digits", "write '%' as %25")
    try:
        return unquote(text, errors="strict") or None
    except UnicodeDecodeError:
        raise Malformed("its percent-encoding is not UTF-8", "encode the text as UTF-8") from None


def _parse_query(query: str) -> str | None:
    extras: dict[str, Any] = {}
    for pair in filter(None, query.split("&")):
        key, _, value = pair.replace("+", " ").partition("=")
        extras[_decode(key) or ""] = _decode(value) or ""
    if EXTRA_KEY in extras:
        if len(extras) > 1:
            raise Malformed(f"it has {EXTRA_KEY} beside other extras", "put them all into one")
        return extras[EXTRA_KEY] or None
    return json.dumps({key: _typed(text) for key, text in extras.items()}) if extras else None


def _typed(text: str) -> Any:
    try:
        return strict_json(text)
    except (ValueError, RecursionError):
        return text


def _build_query(extra: str) -> str:
    flat = "&".join(
        f"{quote(key, safe='')}={quote(value if isinstance(value, str) else json.dumps(value))}"
        for key, value in json.loads(extra).items()
    )
    try:
        if _parse_query(flat) == extra and "%7B" not in flat and "%5B" not in flat:
            return flat
    except Malformed:
        pass  # a key is the reserved one
    return f"{EXTRA_KEY}={quote(extra, safe='')}"
