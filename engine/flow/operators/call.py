"""Calling a user's function with its own arguments and the context values that it names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from flow.authoring.arguments import nearest
from flow.authoring.context import GONE
from flow.authoring.context_keys import CONTEXT_KEYS
from flow.authoring.origin import Origin
from flow.errors import AuthoringError

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters of a function; None for one that does not tell (some built-in ones)."""
    try:
        return list(_signature_of(function).parameters.values())
    except ValueError:
        return None


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
    parameters = parameters_of(function)
    if parameters is None:
        return dict(kwargs)
    filled = {p.name for p in [p for p in parameters if p.kind in _POSITIONAL][: len(args)]}
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        wanted: Collection[str] = context.keys() - filled
    else:
        wanted = {p.name for p in parameters if p.kind in _NAMED} - filled
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
    parameters = parameters_of(function)
    if parameters is None:
        return None
    name = getattr(function, "__name__", repr(function))
    offered = {p.name for p in parameters if p.kind in _NAMED and p.name in CONTEXT_KEYS}
    offered |= {p.name for p in parameters if p.name in extra}
    positional = {p.name for p in [p for p in parameters if p.kind in _POSITIONAL][:number]}
    try:
        _signature_of(function).bind(
            *(None,) * number, **dict.fromkeys((offered - positional) | given)
        )
    except TypeError as error:
        return _Misfit(
            f"{name}() cannot be called like this: {error}",
            _hint(parameters, given, positional, offered),
        )
    return None


_known_misfit = lru_cache(maxsize=256)(_misfit)


def _hint(
    parameters: list[inspect.Parameter],
    names_given: frozenset[str],
    positional: set[str],
    offered: set[str],
) -> str:
    for parameter in parameters:
        if parameter.name in GONE and parameter.name not in names_given:
            return f"the context has no {parameter.name}; {GONE[parameter.name]}"
    names = {p.name for p in parameters if p.kind in _NAMED}
    for given in sorted(names_given - names):
        if meant := nearest(given, names - names_given):
            return f"did you mean {meant!r} instead of {given!r}?"
    for missing in sorted(names - names_given - positional - offered):
        if meant := nearest(missing, CONTEXT_KEYS):
            return f"{missing!r} gets no value; the context has {meant!r}"
    return "give each parameter a value; those named after a context key get theirs from it"
