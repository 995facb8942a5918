"""Which words of a command line are names that the cache of completion knows.

A word is shown as `DAG`, `TASK...` or, where one argument takes several things, `[RUN] TASK`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from flow_cli.name_cache import Kind
from flow_cli.tree import Page, Word

_KINDS: Final = {
    "DAG": Kind.DAG,
    "RUN": Kind.RUN,
    "RUN1": Kind.RUN,
    "RUN2": Kind.RUN,
    "TASK": Kind.TASK,
    "TASKS": Kind.TASK,
    "POOL": Kind.POOL,
}
_MANY: Final = "..."


class Place(NamedTuple):
    """A place among the arguments of a command, and which names may stand there.

    `before` arguments stand before it. `onward`: there, and in every place behind it.
    """

    before: int
    kinds: tuple[Kind, ...]
    onward: bool


def places(page: Page) -> list[Place]:
    """Where the arguments of a command are names."""
    return list(_places(page))


def kind_of(option: Word) -> Kind | None:
    """Of what the value of an option is the name."""
    return _KINDS.get(option.metavar)


def _places(page: Page) -> Iterator[Place]:
    before = 0
    for argument in page.arguments:
        things = argument.metavar.split(" ")
        for place, thing in enumerate(things):
            # What is left out lets the next thing take its place.
            possible = [thing, *things[place + 1 : place + 2]] if "[" in things[0] else [thing]
            kinds = [_KINDS.get(one.strip("[]").removesuffix(_MANY)) for one in possible]
            found = tuple(kind for kind in kinds if kind is not None)
            if found:
                yield Place(before, found, thing.endswith(_MANY))
            before += 1
