"""A runtime whose secrets are masked before any template sees them.

Masking the source, not the result, also hides what a template makes of a secret (an upper-case
password, a URI, a base64 text).
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from flow.authoring.connection import Connection
from flow.authoring.runtime import FoundXCom, PreviousSuccess, Runtime

MASK: Final = "***"

_SENSITIVE: Final = re.compile(
    r"access_?key|api_?key|authorization|credential|keyfile|passphrase|passw|private_?key|secret"
    r"|service_?account|token",
    re.IGNORECASE,
)
"""Names of variables, and of keys in extras and JSON variables, that hold a secret."""


def is_sensitive(name: str) -> bool:
    """Whether what goes by this name is a secret."""
    return _SENSITIVE.search(name) is not None


class MaskedRuntime:
    """Answers as another runtime does, with passwords, tokens and the like replaced by `***`."""

    def __init__(self, inner: Runtime) -> None:
        self._inner = inner

    def get_variable(self, key: str) -> str:
        """Text of a variable, masked."""
        text = self._inner.get_variable(key)
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, (dict, list)):
            return json.dumps(_masked(value, is_sensitive(key)))
        if not is_sensitive(key):
            return text
        return json.dumps(MASK) if isinstance(value, str) else MASK

    def get_connection(self, conn_id: str) -> str:
        """A connection in its JSON form, masked."""
        connection = Connection.from_json(conn_id, self._inner.get_connection(conn_id))
        if connection.password:
            connection.password = MASK
        if connection.extra:
            connection.extra = json.dumps(_masked(connection.extra_dejson, False))
        return connection.to_json()

    def push_xcom(self, key: str, value: str) -> None:
        """Nothing: rendering leaves no trace."""

    def set_variable(self, key: str, value: str, description: str | None) -> None:
        """Nothing: rendering leaves no trace."""

    def delete_variable(self, key: str) -> None:
        """Nothing: rendering leaves no trace."""

    def pull_xcoms(
        self,
        *,
        task_ids: tuple[str, ...],
        key: str,
        dag_id: str | None,
        run_id: str | None,
        map_path: tuple[int, ...] | None,
        include_prior_dates: bool,
    ) -> list[FoundXCom]:
        """XComs, which hold no secrets by rule."""
        return self._inner.pull_xcoms(
            task_ids=task_ids,
            key=key,
            dag_id=dag_id,
            run_id=run_id,
            map_path=map_path,
            include_prior_dates=include_prior_dates,
        )

    def counts(self, *, failed: bool) -> bool:
        """Whether the try counts."""
        return self._inner.counts(failed=failed)

    def previous_success(self) -> PreviousSuccess:
        """Dates of the last successful run before this one."""
        return self._inner.previous_success()


def _masked(value: Any, secret: bool) -> Any:
    """`value` with the same structure, and `***` for what is secret in it."""
    if isinstance(value, dict):
        return {key: _masked(item, secret or is_sensitive(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, secret) for item in value]
    return MASK if secret and value not in (None, "", True, False) else value
