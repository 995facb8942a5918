"""Callbacks as arguments: nothing, one callable, or a list of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flow.authoring.origin import Origin
from flow.errors import InvalidDag

Callback = Callable[..., Any]
Callbacks = Callback | Sequence[Callback] | None


def callback_tuple(name: str, value: Callbacks, where: Origin) -> tuple[Callback, ...]:
    """`value` as a tuple. Raises `InvalidDag` when something in it cannot be called."""
    if value is None:
        return ()
    given = tuple(value) if isinstance(value, Sequence) else (value,)
    for callback in given:
        if not callable(callback):
            raise InvalidDag(
                f"{where}: {name} must be a function or a list of functions, not {callback!r}"
            )
    return given
