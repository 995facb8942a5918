"""The conf of a run: a JSON object that its tasks can read."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from flow.errors import UsageError

_FORM: Final = """write an object such as '{"country": "ch"}', or @FILE that holds one"""


def read_conf(text: str | None) -> dict[str, Any]:
    """The conf in JSON text. Raises `UsageError` when it is not an object."""
    try:
        value = json.loads(text, parse_constant=_not_json) if text is not None else {}
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the conf is not JSON: {error}", _FORM) from None
    if not isinstance(value, dict):
        raise UsageError(f"the conf is not a JSON object: {text}", _FORM)
    return value


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")
