"""What somebody wants to rehearse, from the words of a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flow.authoring.connection import Connection, connection_from_env_value
from flow.errors import NotFound, UsageError
from flow.ops.exchange import connections_in, read_object, variables_in
from flow.secrets import names


class Request(NamedTuple):
    """The words. `target` is FILE or FILE:DAG, `conf` JSON text."""

    target: str
    date: str | None = None
    selection: str | None = None
    conf: str | None = None
    variables: Sequence[str] = ()
    """KEY=VALUE each."""
    connections: Sequence[str] = ()
    """ID=URI each, or ID={JSON}."""
    variables_file: str | None = None
    """JSON text as `flow vars export` writes it."""
    connections_file: str | None = None
    """JSON text as `flow conns export` writes it."""
    pools: Sequence[str] = ()
    """NAME=SLOTS each."""
    idempotent: bool = False
    """Whether to run the tasks twice and compare what they leave."""


class Target(NamedTuple):
    """A DAG file, absolute, and which of its DAGs; None: the only one."""

    file: Path
    dag_id: str | None


def target(text: str) -> Target:
    """The file and the DAG that `text` means. Raises `NotFound` when there is no such file."""
    path, colon, dag_id = text.rpartition(":")
    if Path(text).exists() or not colon:
        path, dag_id = text, ""
    file = Path(path)
    if not file.exists():
        raise NotFound(f"there is no file {path}", "name a DAG file: flow test dags/sales.py")
    if not file.is_file():
        raise UsageError(f"{path!r} is not a file", f"name a DAG file in it: flow test {file}/….py")
    return Target(file.resolve(), dag_id or None)


def given_variables(request: Request) -> dict[str, str]:
    """Variables by key, those given one by one before those of the file.

    Raises `UsageError` for what is not KEY=VALUE or no export.
    """
    text = request.variables_file
    stored = read_object(text, "the file of variables") if text is not None else {}
    return {**texts_of(stored), **variables(request.variables)}


def texts_of(stored: Mapping[str, object]) -> dict[str, str]:
    """The values of variables as an export or `flow.toml` has them. Raises `UsageError`."""
    return {key: variable.value for key, variable in variables_in(stored).items()}


def variables(texts: Sequence[str]) -> dict[str, str]:
    """Variables by key. Raises `UsageError` for what is not KEY=VALUE."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--var {text!r} has no value", "write --var KEY=VALUE")
        found[names.check_key(key)] = value
    return found


def pools(request: Request) -> dict[str, int]:
    """Slots by pool. Raises `UsageError` for what is not NAME=SLOTS."""
    found = {}
    for text in request.pools:
        name, _, slots = text.rpartition("=")
        if not name or not slots.isdecimal():
            raise UsageError(f"--pool {text!r} has no number of slots", "write --pool NAME=SLOTS")
        found[name] = int(slots)
    return found


def given_connections(request: Request) -> dict[str, Connection]:
    """Connections by id, those given one by one before those of the file.

    Raises `UsageError`, which never quotes what may hold a password.
    """
    text = request.connections_file
    stored = read_object(text, "the file of connections") if text is not None else {}
    return {**connections_in(stored), **connections(request.connections)}


def connections(texts: Sequence[str]) -> dict[str, Connection]:
    """Connections by id. Raises `UsageError`, which never quotes what may hold a password."""
    found = {}
    for text in texts:
        conn_id, equals, value = text.partition("=")
        if not equals or "://" in conn_id:
            raise UsageError("a --conn has no id", "write --conn ID=URI or --conn 'ID={JSON}'")
        names.check_conn_id(conn_id)
        found[conn_id] = connection_from_env_value(conn_id, value)
    return found
