"""Durations as arguments: a timedelta (pendulum's too), or a number of seconds where Airflow
takes one."""

from __future__ import annotations

from datetime import timedelta

from flow.authoring.origin import Origin
from flow.errors import InvalidDag


def duration(name: str, value: object, where: Origin, *, seconds: bool = True) -> timedelta:
    """`value` as a timedelta; with `seconds`, a number of seconds is accepted as well.

    Raises `InvalidDag` for anything else, and for a negative duration.
    """
    if seconds and isinstance(value, (int, float)) and not isinstance(value, bool):
        value = timedelta(seconds=value)
    if not isinstance(value, timedelta):
        raise InvalidDag(
            f"{where}: {name} must be a timedelta, not {value!r}",
            f"write {name}=timedelta(minutes=5)",
        )
    if value < timedelta(0):
        raise InvalidDag(f"{where}: {name} must not be negative, but is {value}")
    return value


def optional_duration(
    name: str, value: object, where: Origin, *, seconds: bool = True
) -> timedelta | None:
    """As `duration`, with None for "no limit"."""
    return None if value is None else duration(name, value, where, seconds=seconds)
