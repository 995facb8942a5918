"""What a filter means: words that a row must have, must not have, or must have in a field.

`sales` finds rows by a few letters in order, `tag:shop` by one field, `!word` leaves out. All words
have to fit. Pure: rows are prepared once as lower-case texts, and typing on narrows what was found.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from flow_tui.fuzzy import score

Row = TypeVar("Row")

_AS_A_WHOLE: Final = "is"
"""The field whose words are compared as a whole: `is:run` is not `is:running`."""
NO_FLAGS: Final[Mapping[str, bool]] = {}
RANKED: Final = 500
"""Rows that are put in order of how well they fit, at most."""


class Texts(NamedTuple):
    """What is looked at of a row, in lower case. `name` is what plain words are about."""

    name: str
    fields: Mapping[str, str]

    @classmethod
    def of(
        cls,
        name: str,
        flags: Mapping[str, bool] = NO_FLAGS,
        /,
        **fields: str | Collection[str],
    ) -> Texts:
        """Prepare a row. `flags` that hold are asked for by `is:`; several words are a collection
        of them."""
        holding = [flag for flag, holds in flags.items() if holds]
        texts = {
            field: (value if isinstance(value, str) else "\n".join(value)).lower()
            for field, value in {_AS_A_WHOLE: holding, **fields}.items()
        }
        return cls(name.lower(), texts)


class Term(NamedTuple):
    """One word. Without a field it is about the name."""

    field: str | None
    text: str
    without: bool


class Filter(NamedTuple):
    """Terms that all have to fit; `unknown` are words with a field that rows do not have."""

    terms: tuple[Term, ...]
    unknown: tuple[str, ...]

    @classmethod
    def read(cls, text: str, fields: Collection[str]) -> Filter:
        """Read what somebody typed; half a word, such as `tag:`, does not count yet."""
        terms, unknown = [], []
        for word in text.lower().split():
            without, bare = word.startswith("!"), word.removeprefix("!")
            field, colon, value = bare.partition(":")
            if colon and field in fields:
                if value:
                    terms.append(Term(field, value, without))
            elif colon and field.isalpha():
                unknown.append(word)
            elif bare:
                terms.append(Term(None, bare, without))
        return cls(tuple(terms), tuple(unknown))

    def narrows(self, other: Filter) -> bool:
        """Whether whatever fits this one fits the other one too: it was typed on."""
        if len(self.terms) < len(other.terms):
            return False
        return all(
            mine == theirs or _typed_on(mine, theirs)
            for mine, theirs in zip(self.terms, other.terms, strict=False)
        )


def _typed_on(now: Term, before: Term) -> bool:
    return (
        now.field == before.field
        and now.field != _AS_A_WHOLE
        and not now.without
        and not before.without
        and now.text.startswith(before.text)
    )


class Prepared(NamedTuple, Generic[Row]):
    """A row with its texts."""

    row: Row
    texts: Texts


class Narrowing(Generic[Row]):
    """Rows under a filter that is being typed.

    With `loose` those that have the letters of a word beside each other come first, and where few
    are left the best ones; else rows stay in their order.
    """

    def __init__(self, fields: Collection[str], *, loose: bool) -> None:
        self._fields = fields
        self._loose = loose
        self._rows: Sequence[Prepared[Row]] = ()
        self._found: Sequence[Prepared[Row]] | None = None
        self.filter = Filter((), ())

    def take(self, rows: Sequence[Prepared[Row]]) -> None:
        """Look at these rows from now on."""
        self._rows, self._found = rows, None

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def fitting(self, text: str) -> list[Row]:
        """The rows that fit what was typed."""
        wanted = Filter.read(text, self._fields)
        narrower = self._found is not None and wanted.narrows(self.filter)
        found = self._found if narrower and self._found is not None else self._rows
        for term in wanted.terms:
            found = _fitting(term, found, self._loose)
        self.filter, self._found = wanted, found
        return [one.row for one in self._in_order(wanted, found)]

    def _in_order(self, wanted: Filter, found: Sequence[Prepared[Row]]) -> Sequence[Prepared[Row]]:
        plain = [term.text for term in wanted.terms if term.field is None and not term.without]
        if not self._loose or not plain:
            return found
        if len(found) <= RANKED:
            return sorted(found, key=lambda one: -sum(_rank(one, letters) for letters in plain))
        whole = found
        for text in plain:
            whole = [one for one in whole if text in one.texts.name]
        if len(whole) == len(found):
            return found
        beside = set(map(id, whole))
        return [*whole, *(one for one in found if id(one) not in beside)]


def _fitting(term: Term, rows: Sequence[Prepared[Row]], loose: bool) -> list[Prepared[Row]]:
    text, without = term.text, term.without
    if term.field == _AS_A_WHOLE:
        return [one for one in rows if (text in one.texts.fields["is"].split("\n")) is not without]
    if term.field is not None:
        field = term.field
        return [one for one in rows if (text in one.texts.fields[field]) is not without]
    if loose and not without and len(text) > 1:
        search = re.compile(".*?".join(map(re.escape, text))).search
        return [one for one in rows if text in one.texts.name or search(one.texts.name)]
    return [one for one in rows if (text in one.texts.name) is not without]


def _rank(one: Prepared[Row], letters: str) -> float:
    return score(letters, one.texts.name) or 0.0
