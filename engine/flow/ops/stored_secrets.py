"""What variables and connections have in common: things that are kept encrypted under a name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from flow.errors import NotFound
from flow.ops import keyring
from flow.ops.deployment import Deployment
from flow.ops.exchange import Existing, Imported, settle
from flow.ops.suggest import did_you_mean
from flow.secrets.keys import Keys
from flow.secrets.lookup import LoadKeys
from flow.store.connect import Conn

Thing = TypeVar("Thing")


class Table(Protocol):
    """Where the things of a kind are: a module of the store."""

    def names(self, conn: Conn, /) -> list[str]:
        """All names."""

    def existing(self, conn: Conn, names: Sequence[str], /) -> list[str]:
        """Those of `names` that exist, and nobody else writes one before the transaction ends."""

    def one(self, conn: Conn, name: str, /) -> object | None:
        """The thing of a name."""

    def delete(self, conn: Conn, name: str, /) -> bool:
        """Delete the thing of a name; whether there was one."""


class Kind(NamedTuple):
    """A kind of such things: what one is called, by which group of verbs, and where they are."""

    noun: str
    group: str
    table: Table

    def get(
        self, deployment: Deployment, name: str, look_up: Callable[[Conn, LoadKeys, str], Thing]
    ) -> Thing:
        """What a task on this machine would get for `name`. Raises `NotFound`."""
        conn = deployment.conn
        with deployment.snapshot():
            try:
                return look_up(conn, lambda: keyring.for_reading(deployment), name)
            except NotFound as error:
                raise NotFound(error.message, self._near(conn, name, error.hint)) from None

    def require(self, deployment: Deployment, name: str) -> None:
        """Raise `NotFound` unless the store has it."""
        with deployment.snapshot():
            if self.table.one(deployment.conn, name) is None:
                raise self._unknown(deployment.conn, name)

    def delete(self, deployment: Deployment, name: str) -> None:
        """Delete it. Raises `NotFound`."""
        with deployment.change(f"{self.group}.delete") as change:
            if not self.table.delete(deployment.conn, name):
                raise self._unknown(deployment.conn, name)
            change.log(name, {"exists": True}, {"exists": False})

    def store(
        self,
        deployment: Deployment,
        given: Mapping[str, Thing],
        policy: Existing,
        set_: Callable[[Keys, str, Thing], None],
    ) -> Imported:
        """Store what is given by name, all or none; `set_` writes one."""
        with deployment.change(f"{self.group}.import") as change:
            existing = self.table.existing(deployment.conn, list(given))
            written = settle(list(given), existing, policy, f"{self.noun}s")
            if written:
                keys = keyring.for_writing(deployment)
                for name in written:
                    set_(keys, name, given[name])
                    change.log(name, {"exists": name in existing}, {"exists": True})
        return Imported(written, [name for name in given if name not in written])

    def _unknown(self, conn: Conn, name: str) -> NotFound:
        hint = self._near(conn, name, f"`flow {self.group} list` shows all {self.noun}s")
        return NotFound(f"there is no {self.noun} {name!r}", hint)

    def _near(self, conn: Conn, name: str, otherwise: str) -> str:
        return did_you_mean(name, self.table.names(conn), otherwise)


def as_json(
    deployment: Deployment,
    rows: Mapping[str, Thing],
    plain: Callable[[Keys, Thing], dict[str, Any]],
) -> str:
    """Rows by name as a JSON object; `plain` decrypts one."""
    exported = {}
    if rows:
        keys = keyring.for_reading(deployment)
        exported = {name: plain(keys, row) for name, row in rows.items()}
    return json.dumps(exported, indent=2, ensure_ascii=False) + "\n"
