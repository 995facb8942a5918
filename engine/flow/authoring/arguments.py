"""Checking the keyword arguments of DAGs, tasks and groups before anything is made of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

from flow.authoring.origin import Origin, caller
from flow.authoring.vocabulary import Vocabulary
from flow.errors import AuthoringError, UnsupportedArgument

P = ParamSpec("P")
R = TypeVar("R")

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Signature:
    """What an `__init__` takes by name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.whole = inspect.signature(function)
        parameters = list(self.whole.parameters.values())[1:]
        self.names = frozenset(p.name for p in parameters if p.kind in _NAMED)
        self.required = tuple(
            p.name for p in parameters if p.kind in _NAMED and p.default is inspect.Parameter.empty
        )
        self._needed = frozenset(self.required)
        self.open = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
        self._by_place = tuple(
            name
            for name, p in self.whole.parameters.items()
            if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        )

    def fits(self, args: Sequence[object], known: Mapping[str, object]) -> bool:
        """Whether a call with these arguments, those by name known ones, is right at first sight.

        `whole.bind` knows for sure, and what is wrong, but takes a process longer.
        """
        placed = self._by_place[: len(args)]
        return (
            len(placed) == len(args)
            and known.keys().isdisjoint(placed)
            and self._needed <= known.keys() | set(placed)
        )


def nearest(name: str, names: Iterable[str], likeness: float = 0.7) -> str | None:
    """The name most like `name`, if one is like enough (of 1) to be meant."""
    matches = get_close_matches(name, sorted(names), n=1, cutoff=likeness)
    return matches[0] if matches else None


def is_one_of(value: object, choices: tuple[object, ...]) -> bool:
    """Whether `value` is among the choices. Types count: 0 is not False."""
    # No generator: making one is memory that the process of each try copies.
    for choice in choices:
        if value is choice or (type(value) is type(choice) and value == choice):
            return True
    return False


def supported(
    owner: str,
    given: Mapping[str, Any],
    known: frozenset[str],
    words: Vocabulary,
    where: Origin,
    similar: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """`given` without the arguments that are not built yet and have their neutral value.

    `owner` is who takes the arguments, and `similar` are further names that may have been meant,
    both for the message. Raises `UnsupportedArgument` for an argument that is unknown, gone, or
    not built yet and not neutral.
    """
    if given.keys() <= known:
        return dict(given)
    accepted = {}
    for name, value in given.items():
        if name in known:
            accepted[name] = value
        elif name in words.not_yet:
            if not is_one_of(value, words.not_yet[name]):
                raise not_yet(f"{name}={value!r} of {owner}", where=where)
        elif name not in words.harmless:
            raise unknown(owner, name, known | similar | words.not_yet.keys(), words, where)
    return accepted


def unknown(
    owner: str, name: str, known: Iterable[str], words: Vocabulary, where: Origin
) -> UnsupportedArgument:
    """The error for a name that is not an argument, with the name that was meant."""
    message = f"{where}: {owner} has no argument {name!r}"
    if name in words.gone:
        return UnsupportedArgument(message, words.gone[name])
    meant = nearest(name, set(known) - {name})
    hint = f"did you mean {meant!r}?" if meant else "remove it, or look for its name in the manual"
    return UnsupportedArgument(message, hint)


def not_yet(
    what: str,
    instead: str = "remove it; flow-airflow(7) lists what of Airflow is there",
    *,
    where: Origin | None = None,
) -> UnsupportedArgument:
    """The error for something that Airflow has and Flow lacks yet, and what to write instead."""
    return UnsupportedArgument(f"{where or caller()}: {what} is not supported yet", instead)


def checked(owner: str, words: Vocabulary) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the keyword arguments of an `__init__` against its own signature."""

    def decorate(init: Callable[P, R]) -> Callable[P, R]:
        signature = Signature(init)

        @functools.wraps(init)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            where = caller()
            taken: Any = supported(owner, kwargs, signature.names, words, where)
            if not signature.fits(args, taken):
                try:
                    signature.whole.bind(*args, **taken)
                except TypeError as error:
                    raise AuthoringError(f"{where}: {owner}: {error}") from None
            return init(*args, **taken)

        return wrapped

    return decorate
