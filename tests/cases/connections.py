"""Connections that are hard to write down: those of old faults, and random ones.

Every password holds `SECRET`, so that it can be searched for.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any
from urllib.parse import quote

SECRET = "hunter2"
RANDOM = 500
FIELDS = ("conn_type", "host", "login", "password", "schema", "port", "extra")
IPV6 = re.compile(r"[0-9a-f.]*:[0-9a-f.]*:[0-9a-f.:]*")
Fields = dict[str, Any]

ALPHABET = ["/", "@", ":", "#", "%", "+", " ", "?", "&", "=", "[", "]", "{", '"', "\\", "'", ";"]
ALPHABET += ["\t", "\n", "é", "ß", "数", "据", "🔑", "%2F", "%20", "a", "B", "7", "\u202e", "\x01"]

AWKWARD: dict[str, Fields] = {
    "every_sign": {"login": "us/er@x:y", "password": f"{SECRET}/@:#%+ ?&=[]", "host": "db.example"},
    "only_password": {"password": f"{SECRET} "},
    "blanks_around": {"login": " me ", "password": f" {SECRET} ", "schema": " a b "},
    "plus_and_space": {
        "login": "a+b c",
        "password": f"{SECRET}+ +",
        "extra": {"k": "a+b c", " ": "+"},
    },
    "percent": {"password": f"{SECRET}%2F%zz%", "schema": "100%"},
    "unicode": {
        "login": "jürgen",
        "password": f"{SECRET}ñ数🔑",
        "host": "例え.example",
        "schema": "é",
    },
    "ipv6": {"host": "2001:db8::1", "port": 5432, "login": "me", "password": SECRET},
    "ipv6_without_port": {"host": "::1", "schema": "a/b"},
    "ipv4_in_ipv6": {"host": "::ffff:10.0.0.1", "port": 0},
    "protocol": {"host": "https://api.example", "port": 8443, "schema": "v1"},
    "socket": {"host": "/var/run/postgresql", "login": "me"},
    "several_hosts": {"host": "a.example,b.example", "port": 5432},
    "slash_in_schema": {"host": "h", "schema": "a/b?c=d#e"},
    "aws_key": {"conn_type": "aws", "login": "AKIA+/", "password": f"{SECRET}/+a/b=="},
    "underscore": {
        "conn_type": "google_cloud_platform",
        "extra": {"project": "p", "num_retries": 5},
    },
    "types": {"extra": {"n": 5, "f": 1.5, "b": True, "none": None, "s": "5", "t": "true"}},
    "nested": {"extra": {"a": {"b": [1, "1", {"c": None}]}, "key": f"{SECRET}/@"}},
    "key_file": {"extra": {"keyfile": json.dumps({"private_key": f"-----\n{SECRET}\n-----"})}},
    "reserved_extra": {"extra": {"__extra__": "x", "other": 1}},
    "empty_extra_values": {"extra": {"": "", "a": "", "b": {}, "c": []}},
    "nothing": {},
    "highest_port": {"port": 65535, "host": "h"},
}


def whole(fields: Fields) -> Fields:
    """All fields of a connection, as they are to be read anywhere."""
    return {**dict.fromkeys(FIELDS), "conn_type": "generic", "extra": {}, **fields}


def spelt(fields: Fields) -> str:
    """Its URI by the rules of flow-arguments(7), spelt without any of Flow's code."""
    one = whole(fields)
    user = ":".join(quote(one[name] or "", safe="") for name in ("login", "password"))
    host = one["host"] or ""
    place = f"[{host}]" if IPV6.fullmatch(host) else quote(host, safe="")
    port = "" if one["port"] is None else f":{one['port']}"
    schema = f"/{quote(one['schema'], safe='')}" if one["schema"] else ""
    extra = f"?__extra__={quote(json.dumps(one['extra']))}" if one["extra"] else ""
    scheme = one["conn_type"].replace("_", "-")
    return f"{scheme}://{user + '@' if user != ':' else ''}{place}{port}{schema}{extra}"


def random_connections() -> dict[str, Fields]:
    """500 connections, always the same ones."""
    chance = random.Random(58)

    def text(most: int = 12) -> str:
        return "".join(chance.choices(ALPHABET, k=chance.randint(1, most)))

    def address() -> str:
        return ":".join(f"{chance.randrange(1 << 16):x}" for _ in range(8))

    def value(depth: int = 0) -> Any:
        plain = [None, True, False, chance.randint(-9, 9), chance.random(), text(), "5", "null", ""]
        if depth < 3 and chance.random() < 0.4:
            inner = [value(depth + 1) for _ in range(chance.randint(0, 3))]
            return inner if chance.random() < 0.5 else {text(4): one for one in inner}
        return chance.choice(plain)

    def one() -> Fields:
        fields: Fields = {
            "conn_type": chance.choice(["postgres", "aws", "my_sql", "x.y+z", "7up"]),
            "host": chance.choice([text, address, lambda: f"https://{text()}", lambda: "h"])(),
            "login": text(),
            "password": SECRET + text(),
            "schema": text(),
            "port": chance.randint(0, 65535),
            "extra": {text(6): value() for _ in range(chance.randint(1, 4))},
        }
        kept = [name for name in fields if chance.random() < 0.7]
        return {name: fields[name] for name in {"conn_type", *kept}}

    return {f"random_{number}": one() for number in range(RANDOM)}
