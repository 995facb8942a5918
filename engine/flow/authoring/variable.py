"""Variables: named texts that tasks share, stored encrypted and kept by `flow vars`."""

from __future__ import annotations

import json
from typing import Any, Final

from flow.authoring import runtime
from flow.errors import NotFound, UsageError

_UNSET: Final = object()


class Variable:
    """Read and write variables by key.

    Reading one while a DAG file is imported asks the store at every parse: prefer
    `{{ var.value.key }}` in a template, which asks when the task runs.
    """

    @staticmethod
    def get(
        key: str,
        default: Any = _UNSET,
        deserialize_json: bool = False,
        *,
        default_var: Any = _UNSET,
    ) -> Any:
        """Text of variable `key`, or with `deserialize_json` the JSON value in it.

        `default` (also by its older name `default_var`) is returned as it is when the variable
        does not exist; without one, `NotFound`. Text that is not JSON is a `UsageError`.
        """
        fallback = default if default is not _UNSET else default_var
        try:
            text = runtime.current().get_variable(key)
        except NotFound:
            if fallback is _UNSET:
                raise
            return fallback
        return _from_json(key, text) if deserialize_json else text

    @staticmethod
    def set(
        key: str, value: Any, description: str | None = None, serialize_json: bool = False
    ) -> None:
        """Create or overwrite variable `key`.

        A value that is not text is stored as `str(value)`, with `serialize_json` as JSON.
        """
        if serialize_json:
            value = json.dumps(value, ensure_ascii=False, allow_nan=False)
        runtime.current().set_variable(key, str(value), description)

    @staticmethod
    def delete(key: str) -> None:
        """Delete variable `key`; `NotFound` when it does not exist."""
        runtime.current().delete_variable(key)


def _from_json(key: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        # The parser's own message quotes the text, which may be a secret.
        raise UsageError(
            f"variable {key!r} does not hold JSON",
            f"store JSON in it (`flow vars set {key} JSON`) or read it as text",
        ) from None


class VariableAccessor:
    """`var.value.key` and `var.json.key` in templates, asked for when they are used."""

    def __init__(self, *, deserialize_json: bool) -> None:
        self._deserialize_json = deserialize_json

    def __getitem__(self, key: str) -> Any:
        return Variable.get(key, deserialize_json=self._deserialize_json)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            # copy, pickle and Jinja look for such names; none of them is a variable's key.
            raise AttributeError(key)
        return self[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The variable, or `default` when it does not exist."""
        return Variable.get(key, default, self._deserialize_json)

    def __repr__(self) -> str:
        return "var.json" if self._deserialize_json else "var.value"


class VariableForms:
    """`var` in templates."""

    value = VariableAccessor(deserialize_json=False)
    json = VariableAccessor(deserialize_json=True)
