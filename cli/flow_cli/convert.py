"""Turning the words of a command line into values, without pydantic.

Typer converts every value, even a plain text, with pydantic, whose import costs as much as all the
rest of a short command. The kinds of values that Flow's commands take are few and are read here.
A parameter of any other kind is left to Typer.

A Typer that keeps its converters elsewhere would go on converting by itself: nothing would break,
and the test that looks for pydantic among the imported modules would say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

import typer

if TYPE_CHECKING:
    from typer._click import Context
    from typer._click.core import Parameter

Read = Callable[[Any], object]
LARGEST = 2**31 - 1
"""The largest whole number that a column holds; none of Flow's comes near it."""
PATH_CHECKS = ("exists", "writable", "resolve_path", "allow_dash", "path_type")


class Converter:
    """Has the one method that Typer asks of a converter."""

    def __init__(self, read: Read) -> None:
        self._read = read

    def coerce(self, value: Any, param: Any, ctx: Context) -> object:
        """The value of a parameter. Raises `typer.BadParameter`, which says what is wrong."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        try:
            return [self._read(part) for part in value] if several else self._read(value)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from error


def with_own_converters(params: list[Parameter]) -> list[Parameter]:
    """The parameters; each whose kind of value is known converts with Flow's own converter."""
    for param in params:
        descriptor = getattr(param, "type_descriptor", None)
        if descriptor is not None:
            read = _reader(descriptor.annotation, descriptor.parameter_info)
            if read is not None:
                param._runtime_param = Converter(read)  # type: ignore[attr-defined]
    return params


def _reader(annotation: Any, info: Any) -> Read | None:
    if info.parser is not None:
        return None
    if get_origin(annotation) is list:
        return _reader(get_args(annotation)[0], info)
    if get_origin(annotation) is tuple:
        return _each([_reader(part, info) for part in get_args(annotation)])
    if not isinstance(annotation, type):
        return None
    if annotation in (str, bool):
        return annotation
    if annotation in (int, float):
        return _number(annotation, info.min, info.max)
    if annotation is Path and not any(getattr(info, check, None) for check in PATH_CHECKS):
        return Path
    if issubclass(annotation, Enum):
        return _choice(annotation)
    return None


def _each(readers: list[Read | None]) -> Read | None:
    """Reads several values that belong together, each in its own way."""
    known = [read for read in readers if read is not None]
    if len(known) < len(readers):
        return None
    return lambda values: tuple(read(part) for read, part in zip(known, values, strict=True))


def _number(kind: Callable[[Any], float], least: float | None, most: float | None) -> Read:
    def read(value: Any) -> float:
        try:
            number = kind(value)
        except ValueError as error:
            raise ValueError(f"{value!r} is not a number") from error
        if isinstance(number, float) and not math.isfinite(number):
            raise ValueError(f"{value!r} is not a number")
        if least is not None and number < least:
            raise ValueError(f"{value} is less than {least}")
        if most is not None and number > most:
            raise ValueError(f"{value} is more than {most}")
        if isinstance(number, int) and abs(number) > LARGEST:
            raise ValueError(f"{value} is a larger number than Flow can keep")
        return number

    return read


def _choice(kind: type[Enum]) -> Read:
    def read(value: Any) -> Enum:
        try:
            return kind(value)
        except ValueError as error:
            names = ", ".join(str(member.value) for member in kind)
            raise ValueError(f"{value!r} is none of: {names}") from error

    return read
