"""Files of variables and connections: what happens to names that exist, and reading JSON."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, NamedTuple

from flow.errors import Conflict, UsageError


class Existing(StrEnum):
    """What an import does with a name that exists already."""

    FAIL = "fail"
    SKIP = "skip"
    OVERWRITE = "overwrite"


class Imported(NamedTuple):
    """The names that an import wrote, and those it left as they were."""

    written: list[str]
    skipped: list[str]


def read_object(text: str, what: str) -> dict[str, Any]:
    """The JSON object in a text. Raises `UsageError`, which quotes nothing of it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise UsageError(f"{what} is not JSON{place}", "see what an export looks like") from None
    if not isinstance(value, dict):
        raise UsageError(f"{what} is not a JSON object", "its keys are the names")
    return value


def settle(names: list[str], existing: list[str], policy: Existing, noun: str) -> list[str]:
    """The names to write. Raises `Conflict` naming those that exist, where the policy says so."""
    if existing and policy is Existing.FAIL:
        shown = ", ".join(existing[:5]) + (", …" if len(existing) > 5 else "")
        raise Conflict(
            f"{len(existing)} {noun} already exist: {shown}",
            "add --existing skip or --existing overwrite; nothing was changed",
        )
    kept = set(existing) if policy is Existing.SKIP else set()
    return [name for name in names if name not in kept]
