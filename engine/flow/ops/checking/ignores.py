"""Comments that silence findings: `# flow: ignore[rule, rule]`. Pure.

One counts for the statement in whose lines it stands; in the head of the file, before its first
statement, for what is found about the file as a whole.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from flow.ops.checking import rules
from flow.ops.checking.findings import Finding
from flow.ops.checking.rules import RULES, finding

_COMMENT: Final = re.compile(r"#\s*flow:\s*ignore\[(?P<rules>[^\]]*)\]")
_BLANK: Final = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)


class Ignores(NamedTuple):
    """The rules that comments of a file name: of the whole file, and by line."""

    head: frozenset[str] = frozenset()
    lines: Mapping[int, frozenset[str]] = {}
    written: tuple[tuple[int, str], ...] = ()
    """Every name, with the line where it is written."""

    def silence(self, found: Finding) -> bool:
        """Whether a finding of this file is not to be told."""
        named = self.head if found.line is None else self.lines.get(found.line, frozenset())
        return RULES[found.rule].ignorable and found.rule in named


def ignores(source: str) -> Ignores:
    """What the comments of a source say; of one that is no Python, up to where it ends to be."""
    if "flow:" not in source:
        return Ignores()
    written: list[tuple[int, str]] = []
    head: set[str] = set()
    lines: dict[int, frozenset[str]] = {}
    began: int | None = None
    pending: set[str] = set()
    in_head = True
    for token in _tokens(source):
        if token.type == tokenize.COMMENT:
            names = _names(token.string)
            written += [(token.start[0], name) for name in names]
            (pending if began is not None else head if in_head else set()).update(names)
        elif token.type == tokenize.NEWLINE and began is not None:
            for line in range(began, token.start[0] + 1):
                lines[line] = frozenset(pending)
            began, pending = None, set()
        elif token.type not in _BLANK and began is None:
            began = token.start[0]
            in_head = in_head and token.type == tokenize.STRING
    return Ignores(frozenset(head), lines, tuple(written))


def unknown(file: str, found: Iterable[tuple[int, str]]) -> Iterator[Finding]:
    """Comments that name a rule that there is not, and so silence nothing."""
    for line, name in found:
        if name not in RULES:
            yield finding(
                rules.UNKNOWN_RULE,
                file,
                f"there is no rule {name!r} to ignore",
                line=line,
                hint="flow-check(7) lists the rules",
            )


def _names(comment: str) -> list[str]:
    found = _COMMENT.search(comment)
    return [name for part in found["rules"].split(",") if (name := part.strip())] if found else []


def _tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(source).readline)
    except (tokenize.TokenError, SyntaxError):
        return
