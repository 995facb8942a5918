"""Calling a user's function with its own arguments and the context values that it names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from types import FunctionType
from typing import Any, NamedTuple

from flow.authoring.arguments import nearest
from flow.authoring.context import GONE
from flow.authoring.context_keys import CONTEXT_KEYS
from flow.authoring.origin import Origin
from flow.errors import AuthoringError

_ANOTHER_ONES = ("__wrapped__", "__signature__", "__text_signature__")
"""Attributes by which a function says that its signature is not that of its code."""
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Shape(NamedTuple):
    """What a function can be called with."""

    by_place: tuple[str, ...]
    by_name: frozenset[str]
    required: frozenset[str]
    any_number: bool
    any_name: bool

    def fits(self, number: int, names: AbstractSet[str]) -> bool:
        """Whether a call with so many arguments and those by name is right at first sight.

        `inspect.Signature.bind` knows for sure, and what is wrong, but takes a process longer.
        """
        placed = self.by_place[:number]
        return (
            (number == len(placed) or self.any_number)
            and names.isdisjoint(placed)
            and (names <= self.by_name or self.any_name)
            and self.required <= {*placed, *(names & self.by_name)}
        )


def shape_of(function: Callable[..., Any]) -> Shape | None:
    """The shape of a function; None for one that does not tell (some built-in ones)."""
    if type(function) is FunctionType and function.__dict__.keys().isdisjoint(_ANOTHER_ONES):
        return _plain_shape(function)
    try:
        return _shape(_signature_of(function).parameters.values())
    except ValueError:
        return None


def _plain_shape(function: FunctionType) -> Shape:
    """Read off its code, which takes less than a signature."""
    code = function.__code__
    by_place = code.co_varnames[: code.co_argcount]
    by_word = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    without = len(by_place) - len(function.__defaults__ or ())
    defaults = function.__kwdefaults__ or {}
    return Shape(
        by_place,
        frozenset((*by_place[code.co_posonlyargcount :], *by_word)),
        frozenset(by_place[:without]) | (frozenset(by_word) - defaults.keys()),
        bool(code.co_flags & inspect.CO_VARARGS),
        bool(code.co_flags & inspect.CO_VARKEYWORDS),
    )


def _shape(parameters: Collection[inspect.Parameter]) -> Shape:
    kinds = {p.kind for p in parameters}
    return Shape(
        tuple(p.name for p in parameters if p.kind in _POSITIONAL),
        frozenset(p.name for p in parameters if p.kind in _NAMED),
        frozenset(
            p.name
            for p in parameters
            if p.kind in (*_POSITIONAL, *_NAMED) and p.default is inspect.Parameter.empty
        ),
        inspect.Parameter.VAR_POSITIONAL in kinds,
        inspect.Parameter.VAR_KEYWORD in kinds,
    )


def _signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """A file that makes 50 tasks of one function, in each of its 50 processes, looks once."""
    try:
        return _known_signature(function)
    except TypeError:  # a callable object without a hash
        return inspect.signature(function)


@lru_cache(maxsize=256)
def _known_signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def context_arguments(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    context: Mapping[str, Any],
) -> dict[str, Any]:
    """Keyword arguments for `function(*args, …)`: `kwargs`, and the context values it asks for.

    A function asks by naming a parameter after a key of the context, or for all by `**kwargs`.
    """
    shape = shape_of(function)
    if shape is None:
        return dict(kwargs)
    known = context.keys() if shape.any_name else shape.by_name
    wanted = known - {*shape.by_place[: len(args)]}
    if not wanted:
        return dict(kwargs)
    # By key, not over all items: a context may compute a value only when it is asked for.
    found = {name: context[name] for name in wanted if name not in kwargs and name in context}
    return {**found, **kwargs}


def call(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    context: Mapping[str, Any],
) -> Any:
    """The result of the function, or, of an `async def`, what it is in the end."""
    result = function(*args, **context_arguments(function, args, kwargs, context))
    if not inspect.iscoroutine(result):
        return result
    import asyncio  # 10 ms that few tasks need

    return asyncio.run(result)


def check_call(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    where: Origin,
    extra: Collection[str] = (),
) -> None:
    """Raise `AuthoringError` when the call could only fail in the task.

    `extra` are names that the context has for this call besides the usual ones.
    """
    # Only names and the number of arguments decide, so many tasks of one function are one look.
    shape = len(args), frozenset(kwargs), frozenset(extra)
    try:
        misfit = _known_misfit(function, *shape)
    except TypeError:  # a callable object without a hash
        misfit = _misfit(function, *shape)
    if misfit is not None:
        raise AuthoringError(f"{where}: {misfit.message}", misfit.hint)


class _Misfit(NamedTuple):
    message: str
    hint: str


def _misfit(
    function: Callable[..., Any], number: int, given: frozenset[str], extra: frozenset[str]
) -> _Misfit | None:
    """Why a call with so many arguments and those given by name can only fail."""
    shape = shape_of(function)
    if shape is None:
        return None
    known = (shape.by_name & CONTEXT_KEYS) | (shape.by_name & extra)
    offered = known - {*shape.by_place[:number]}
    names = offered | given
    if shape.fits(number, names):
        return None
    signature = _signature_of(function)
    try:
        signature.bind(*(None,) * number, **dict.fromkeys(names))
    except TypeError as error:
        name = getattr(function, "__name__", repr(function))
        return _Misfit(
            f"{name}() cannot be called like this: {error}",
            _hint(signature.parameters, shape, number, given, offered),
        )
    return None


_known_misfit = lru_cache(maxsize=256)(_misfit)


def _hint(
    parameters: Iterable[str],
    shape: Shape,
    number: int,
    given: frozenset[str],
    offered: frozenset[str],
) -> str:
    for parameter in parameters:
        if parameter in GONE and parameter not in given:
            return f"the context has no {parameter}; {GONE[parameter]}"
    for name in sorted(given - shape.by_name):
        if meant := nearest(name, shape.by_name - given):
            return f"did you mean {meant!r} instead of {name!r}?"
    for missing in sorted(shape.by_name - given - {*shape.by_place[:number]} - offered):
        if meant := nearest(missing, CONTEXT_KEYS):
            return f"{missing!r} gets no value; the context has {meant!r}"
    return "give each parameter a value; those named after a context key get theirs from it"
