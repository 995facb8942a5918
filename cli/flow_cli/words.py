"""Arguments of verbs in which the run is left out when options name several."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

from flow.errors import UsageError

E = TypeVar("E", bound=StrEnum)


def run_and_rest(
    words: Sequence[str], rest: Sequence[str], *, in_range: bool
) -> tuple[str | None, Sequence[str]]:
    """The run and the words after it, named `rest` on the help page; no run with `in_range`.

    Raises `UsageError` for too few words, and too many.
    """
    wanted = len(rest) + (not in_range)
    if len(words) != wanted:
        names = " ".join(rest if in_range else ("RUN", *rest))
        said = "too many" if len(words) > wanted else "too few"
        why = "with --from, --to or --where no run is named" if in_range else "or --from DATE"
        raise UsageError(f"there are {said} arguments after DAG", f"write {names} ({why})")
    return (None, words) if in_range else (words[0], words[1:])


def one_of(word: str, choices: type[E]) -> E:
    """The choice that a word is. Raises `UsageError` naming all."""
    try:
        return choices(word)
    except ValueError:
        names = ", ".join(choices)
        raise UsageError(f"{word!r} is not one of {names}", f"write one of {names}") from None
