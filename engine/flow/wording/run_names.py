"""Runs as they are told apart where there is little room."""

from __future__ import annotations

import re
from typing import Final

_MADE: Final = re.compile(r"\b([a-z_]+?)__(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::(\d\d)(?:\.\d+)?)?\+00:00")


def brief(text: str) -> str:
    """A text with the run ids in it that Flow has made cut down to what tells them apart.

    `scheduled__2026-10-09T00:00:00+00:00` becomes `2026-10-09T00:00`, which names the run on a
    command line as well. Others keep the word for how they were made: `manual 2026-10-09T00:00`.
    """
    return _MADE.sub(_brief, text)


def _brief(found: re.Match[str]) -> str:
    kind, minute, second = found.groups()
    word = "" if kind == "scheduled" else f"{kind} "
    return f"{word}{minute}:{second}" if second not in (None, "00") else f"{word}{minute}"
