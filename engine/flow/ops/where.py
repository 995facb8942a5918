"""Conditions as text: `state=failed and dag~sales_*`, over the fields that `-o json` shows.

    condition  = all of, joined by `or`
    all of     = parts, joined by `and`
    part       = `not` part | `(` condition `)` | FIELD OPERATOR VALUE
    OPERATOR   = `=` `!=` `~` `!~` (a glob) `<` `<=` `>` `>=`

A value is a word, or anything in quotes; for `=` and `~` several with commas: any of them. `null`
is a field that is not set. Dates are written as everywhere on the command line, and a whole day
means any moment of it. A field that is a list fits when one of its members does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from fnmatch import fnmatchcase
from types import MappingProxyType, UnionType
from typing import Any, Final, NamedTuple, get_args, get_type_hints

from flow.dates import DateArgument, parse_date
from flow.errors import UsageError
from flow.ops.suggest import did_you_mean

Row = Mapping[str, object]
Condition = Callable[[Row], bool]
"""Whether a row, by field, fits."""
Words = Mapping[str, Collection[str]]
_FREE: Final[Words] = MappingProxyType({})

_ALIASES: Final = {"dag": "dag_id", "run": "run_id", "task": "task_id", "type": "run_type"}
_TOKEN = re.compile(
    r"""\s*(?: (?P<mark>[()]) | (?P<operator>!=|!~|<=|>=|[=~<>])
      | "(?P<double>[^"]*)" | '(?P<single>[^']*)' | (?P<word>[^\s()=~<>!"']+) )""",
    re.VERBOSE,
)
_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": lambda found, asked: found < asked,
    "<=": lambda found, asked: found <= asked,
    ">": lambda found, asked: found > asked,
    ">=": lambda found, asked: found >= asked,
}
_BEHIND_A_DAY: Final = {"<=": _ORDER["<"], ">": _ORDER[">="]}
"""How moments compare with the end of a day: up to a day includes all of it, after it none."""


class _Token(NamedTuple):
    kind: str
    """`mark`, `operator`, `word`, or `quoted`."""
    text: str


class Part(NamedTuple):
    """One of the conditions that all have to hold, and the fields that it asks for."""

    fields: frozenset[str]
    fits: Condition


class Fields(NamedTuple):
    """What a condition may ask for: names with their types, and how its dates are read.

    `words` has, for a field that is one of a few words, all of them: nothing else can fit.
    """

    types: Mapping[str, type]
    zone: tzinfo
    now: datetime
    words: Words = _FREE


def fields_of(row: type, zone: tzinfo, now: datetime, words: Words = _FREE) -> Fields:
    """The fields of a named tuple with a simple type; dates without an offset are in `zone`."""
    return Fields(
        {name: kind for name, hint in get_type_hints(row).items() if (kind := _kind(hint))},
        zone,
        now,
        words,
    )


def parse(text: str, fields: Fields) -> Condition:
    """Read a condition. Raises `UsageError` for what is none, and for fields that are not there."""
    return _all_of([part.fits for part in parts(text, fields)])


def parts(text: str, fields: Fields) -> list[Part]:
    """Read a condition as what `and` joins in it. Raises what `parse` raises."""
    return _Parser(text, fields).whole()


def _all_of(conditions: Sequence[Condition]) -> Condition:
    if len(conditions) == 1:
        return conditions[0]
    return lambda row: all(condition(row) for condition in conditions)


def _any_of(conditions: Sequence[Condition]) -> Condition:
    if len(conditions) == 1:
        return conditions[0]
    return lambda row: any(condition(row) for condition in conditions)


def _kind(hint: Any) -> type | None:
    """The simple type of an annotation: that of its members for a list, without None."""
    if isinstance(hint, UnionType):
        hint = next(one for one in get_args(hint) if one is not type(None))
    if get_args(hint):
        hint = get_args(hint)[0]
    if not isinstance(hint, type):
        return None
    return next(
        (kind for kind in (bool, int, float, datetime, str) if issubclass(hint, kind)), None
    )


class _Parser:
    """One text, read from left to right."""

    def __init__(self, text: str, fields: Fields) -> None:
        self._text = text
        self._fields = fields
        self._tokens = list(self._read())
        self._at = 0
        self._asked: set[str] = set()

    def whole(self) -> list[Part]:
        parts = self._parts()
        if self._takes("word", "or"):
            fits = _any_of([_all_of([part.fits for part in parts]), self._any_of()])
            asked = frozenset(self._asked).union(*(part.fields for part in parts))
            parts = [Part(asked, fits)]
        if (rest := self._next()) is not None:
            raise self._fault(f"{rest.text!r} does not belong there")
        return parts

    def _read(self) -> Iterator[_Token]:
        at = 0
        text = self._text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._fault(f"{text[at:].strip()[:20]!r} cannot be read")
            kind = match.lastgroup or "word"
            yield _Token("quoted" if kind in ("double", "single") else kind, match[kind])
            at = match.end()

    def _parts(self) -> list[Part]:
        """What `and` joins outside of parentheses."""
        parts: list[Part] = []
        while not parts or self._takes("word", "and"):
            self._asked = set()
            fits = self._part()
            parts.append(Part(frozenset(self._asked), fits))
        return parts

    def _any_of(self) -> Condition:
        conditions = [self._all_of()]
        while self._takes("word", "or"):
            conditions.append(self._all_of())
        return _any_of(conditions)

    def _all_of(self) -> Condition:
        conditions = [self._part()]
        while self._takes("word", "and"):
            conditions.append(self._part())
        return _all_of(conditions)

    def _part(self) -> Condition:
        if self._takes("word", "not"):
            denied = self._part()
            return lambda row: not denied(row)
        if self._takes("mark", "("):
            inner = self._any_of()
            if not self._takes("mark", ")"):
                raise self._fault("a `)` is missing")
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        field, operator, value = self._next(), self._next(), self._next()
        if field is None or field.kind != "word":
            raise self._fault("a field is missing")
        if operator is None or operator.kind != "operator":
            raise self._fault(f"after {field.text!r} an operator is missing: = != ~ !~ < <= > >=")
        if value is None or value.kind not in ("word", "quoted"):
            raise self._fault(f"after {field.text}{operator.text} a value is missing")
        name = _ALIASES.get(field.text, field.text)
        kind = self._fields.types.get(name)
        if kind is None:
            names = sorted(self._fields.types)
            raise UsageError(
                f"there is no field {field.text!r} to ask for",
                did_you_mean(field.text, names, f"there are: {', '.join(names)}"),
            )
        self._asked.add(name)
        values = [value.text] if value.kind == "quoted" else value.text.split(",")
        return self._compare(name, kind, operator.text, values)

    def _compare(self, name: str, kind: type, operator: str, values: Sequence[str]) -> Condition:
        if operator in _ORDER:
            if len(values) > 1:
                raise self._fault(f"{name}{operator} takes one value")
            order = self._order(kind, operator, values[0])
            return lambda row: any(order(one) for one in _members(row[name]))
        self._require_words(name, operator, values)
        denied = operator.startswith("!")
        tests = [self._test(name, kind, operator.removeprefix("!"), one) for one in values]

        def fits(row: Row) -> bool:
            found = _members(row[name]) or [None]
            return any(test(one) for test in tests for one in found) is not denied

        return fits

    def _test(self, name: str, kind: type, operator: str, value: str) -> Callable[[object], bool]:
        if operator == "~":
            if kind is not str:
                raise self._fault(f"{name} is not a text, so ~ does not fit it")
            return lambda found: found is not None and fnmatchcase(str(found), value)
        if value == "null":
            return lambda found: found is None
        if kind is datetime:
            asked = self._date(value)
            return lambda found: isinstance(found, datetime) and _within(found, asked)
        wanted = self._value(kind, value)
        return lambda found: found == wanted

    def _require_words(self, name: str, operator: str, values: Sequence[str]) -> None:
        words = self._fields.words.get(name)
        if words is None:
            return
        for value in values:
            if not _may_be(words, value, glob=operator.endswith("~")):
                hint = f"it is one of {', '.join(words)}"
                raise UsageError(f"{name} is never {value!r}", hint + self._elsewhere(name, value))

    def _elsewhere(self, name: str, value: str) -> str:
        """That another field of the same name, such as the one of tasks, may have the value."""
        fields = [field for field in self._fields.words if field.endswith(f".{name}")]
        fitting = [field for field in fields if value in self._fields.words[field]]
        return f"; {fitting[0]} may be {value}" if fitting else ""

    def _order(self, kind: type, operator: str, value: str) -> Callable[[object], bool]:
        compare = _ORDER[operator]
        if kind is datetime:
            asked = self._date(value)
            moment = asked.start
            if asked.whole_day and operator in _BEHIND_A_DAY:
                compare, moment = _BEHIND_A_DAY[operator], asked.end
            return lambda found: isinstance(found, datetime) and compare(found, moment)
        wanted = self._value(kind, value)
        return lambda found: found is not None and compare(found, wanted)

    def _date(self, value: str) -> DateArgument:
        return parse_date(value, self._fields.zone, self._fields.now)

    def _value(self, kind: type, value: str) -> object:
        if kind is bool:
            if value not in ("true", "false"):
                raise self._fault(f"{value!r} is neither true nor false")
            return value == "true"
        if kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                raise self._fault(f"{value!r} is not a number") from None
        return value

    def _next(self) -> _Token | None:
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        self._at += 1
        return token

    def _takes(self, kind: str, text: str) -> bool:
        """Whether the next token is this one; then it is passed."""
        found = self._at < len(self._tokens) and self._tokens[self._at] == (kind, text)
        self._at += found
        return found

    def _fault(self, what: str) -> UsageError:
        return UsageError(
            f"the condition {self._text!r} cannot be read: {what}",
            "Write it like: state=failed and dag~sales_*",
        )


def _may_be(words: Collection[str], value: str, *, glob: bool) -> bool:
    return any(fnmatchcase(word, value) for word in words) if glob else value in words


def _members(value: object) -> Sequence[object]:
    """A list's members, or the one value; none of what is not set."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _within(moment: datetime, asked: DateArgument) -> bool:
    if asked.whole_day:
        return asked.start <= moment < asked.end
    return moment == asked.start
