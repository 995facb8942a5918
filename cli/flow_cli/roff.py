"""Writing manual pages: text as roff, and a small part of Markdown as a whole page.

Concept pages are written in Markdown: headings, paragraphs, code blocks, lists, tables, and within
a line `code`, **strong** and *emphasis*. What is outside of this is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

_INLINE = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<emphasis>[^*]+)\*")
_HEADING = re.compile(r"(?P<level>#{1,3}) (?P<text>.+)")
_ITEM = re.compile(r"(?P<mark>[-*]|\d+\.) (?P<text>.+)")
_RULE = re.compile(r"\|?[\s:|-]+\|?")
_FENCE = "```"


def title(name: str, section: str) -> str:
    """The first line of a page. It carries no date, so that the same source gives the same page."""
    return f'.TH {quoted(name.upper())} {section} "" "Flow" "Flow manual"'


def escaped(text: str) -> str:
    """Text that roff prints as it stands."""
    shown = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + shown if shown.startswith((".", "'")) else shown


def quoted(text: str) -> str:
    """Text as one argument of a roff request."""
    return '"' + escaped(text).replace('"', '""') + '"'


def section(heading: str) -> str:
    """The heading of a section."""
    return f".SH {quoted(heading.upper())}"


def bold(text: str) -> str:
    """Text in bold, within a line."""
    return f"\\fB{escaped(text)}\\fR"


def italic(text: str) -> str:
    """Text in italics, within a line."""
    return f"\\fI{escaped(text)}\\fR"


def tagged(tag: str, body: str) -> list[str]:
    """A tag with an indented body; `tag` is roff already, `body` is Markdown within a line."""
    return [".TP", tag, inline(body) or "\\&"]


def code_block(lines: Sequence[str]) -> list[str]:
    """Lines that are printed as they stand."""
    return [".PP", ".RS 4", ".EX", *(escaped(line) or "\\&" for line in lines), ".EE", ".RE"]


def inline(text: str) -> str:
    """A piece of Markdown within a line, as roff."""
    parts: list[str] = []
    position = 0
    for match in _INLINE.finditer(text):
        parts.append(escaped_within(text[position : match.start()]))
        if match["emphasis"]:
            parts.append(italic(match["emphasis"]))
        else:
            parts.append(bold(match["code"] or match["strong"]))
        position = match.end()
    parts.append(escaped_within(text[position:]))
    line = "".join(parts)
    return "\\&" + line if line.startswith((".", "'")) else line


def escaped_within(text: str) -> str:
    """Text that does not begin a line, so a dot at its beginning is only a dot."""
    return text.replace("\\", "\\e").replace("-", "\\-")


def page_from_markdown(text: str, name: str, number: str) -> str:
    """A concept page. Its first heading is `# name - what it is about`."""
    lines = text.splitlines()
    body = list(_blocks(lines))
    tables = ["'\\\" t"] if any(line == ".TS" for line in body) else []
    return "\n".join([*tables, title(name, number), *body, ""])


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    position = 0
    while position < len(lines):
        line = lines[position]
        if not line.strip():
            position += 1
        elif line.startswith(_FENCE):
            inside = list(takewhile(lambda each: each != _FENCE, lines[position + 1 :]))
            yield from code_block(inside)
            position += len(inside) + 2
        elif heading := _HEADING.fullmatch(line):
            yield from _heading(len(heading["level"]), heading["text"])
            position += 1
        else:
            block = list(takewhile(_continues, lines[position:]))
            yield from _block(block)
            position += len(block)


def _continues(line: str) -> bool:
    return bool(line.strip()) and not line.startswith((_FENCE, "#"))


def _heading(level: int, text: str) -> Iterator[str]:
    if level == 1:
        yield section("Name")
        yield inline(text)
    elif level == 2:
        yield section(text)
    else:
        yield f".SS {quoted(text)}"


def _block(lines: Sequence[str]) -> Iterator[str]:
    if lines[0].startswith("|"):
        yield from _table(lines)
    elif _ITEM.match(lines[0]):
        yield from _list(lines)
    else:
        yield ".PP"
        yield inline(" ".join(line.strip() for line in lines))


def _list(lines: Sequence[str]) -> Iterator[str]:
    items: list[tuple[str, str]] = []
    for line in lines:
        if match := _ITEM.match(line):
            items.append((match["mark"], match["text"]))
        else:
            mark, text = items[-1]
            items[-1] = (mark, f"{text} {line.strip()}")
    for mark, text in items:
        yield f".IP {mark} 4" if mark[0].isdigit() else ".IP \\(bu 2"
        yield inline(text)


def _table(lines: Sequence[str]) -> Iterator[str]:
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in lines
        if not _RULE.fullmatch(line.strip())
    ]
    columns = max(len(row) for row in rows)
    yield ".PP"
    yield ".TS"
    yield "tab(|);"
    yield " ".join(["lb"] * columns)
    yield " ".join(["l"] * (columns - 1) + ["lx"]) + "."
    for row in rows:
        # A block lets a long cell wrap; the others stay on one line.
        yield "|".join([*map(inline, row[:-1]), "T{"])
        yield inline(row[-1])
        yield "T}"
    yield ".TE"
