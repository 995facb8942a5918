"""What a filter means: words that a row must have, must not have, or must have in a field.

`sales` finds rows by a few letters in order, `tag:shop` by one field, `!word` leaves out. All words
have to fit. Pure: rows are prepared once as lower-case texts, and typing on narrows what was found.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from flow_tui.fuzzy import score

Row = TypeVar("Row")

_AS_A_WHOLE: Final = "is"
"""The field whose words are compared as a whole: `is:run` is not `is:running`."""


class Texts(NamedTuple):
    """What is looked at of a row, in lower case. `name` is what plain words are about."""

    name: str
    fields: Mapping[str, str]

    @classmethod
    def of(cls, name: str, **fields: str | Collection[str]) -> Texts:
        """Prepare a row. What has several words is a collection of them."""
        texts = {
            field: (value if isinstance(value, str) else "\n".join(value)).lower()
            for field, value in fields.items()
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

    def rank(self, texts: Texts, *, loose: bool) -> float | None:
        """How well a row fits, higher is better; None: it does not.

        `loose`: letters of a plain word may stand apart, as long as they come in its order.
        """
        total = 0.0
        for term in self.terms:
            value = _value(term, texts, loose)
            if (value is None) is not term.without:
                return None
            total += value or 0.0
        return total


def _typed_on(now: Term, before: Term) -> bool:
    return (
        now.field == before.field
        and now.field != _AS_A_WHOLE
        and not now.without
        and not before.without
        and now.text.startswith(before.text)
    )


def _value(term: Term, texts: Texts, loose: bool) -> float | None:
    if term.field is None:
        if loose and not term.without:
            return score(term.text, texts.name)
        return 0.0 if term.text in texts.name else None
    text = texts.fields[term.field]
    fits = term.text in (text.split("\n") if term.field == _AS_A_WHOLE else text)
    return 0.0 if fits else None


class Prepared(NamedTuple, Generic[Row]):
    """A row with its texts."""

    row: Row
    texts: Texts


class Narrowing(Generic[Row]):
    """Rows under a filter that is being typed.

    With `loose` the best ones come first; rows that fit alike stay in their order.
    """

    def __init__(self, fields: Collection[str], *, loose: bool) -> None:
        self._fields = fields
        self._loose = loose
        self._rows: Sequence[Prepared[Row]] = ()
        self._found: list[tuple[float, Prepared[Row]]] | None = None
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
        if not wanted.terms:
            self.filter, self._found = wanted, None
            return [one.row for one in self._rows]
        narrower = self._found is not None and wanted.narrows(self.filter)
        among = [one for _, one in self._found or ()] if narrower else self._rows
        self._found = [
            (rank, one)
            for one in among
            if (rank := wanted.rank(one.texts, loose=self._loose)) is not None
        ]
        self.filter = wanted
        if not self._loose:
            return [one.row for _, one in self._found]
        return [one.row for _, one in sorted(self._found, key=lambda found: -found[0])]
