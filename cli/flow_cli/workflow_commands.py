"""Workflow commands of GitHub Actions, which shows them beside the lines of the files they name.

The form is that of docs.github.com, "Workflow commands for GitHub Actions". Commands count on both
outputs of a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_IN_DATA: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES: Final = {**_IN_DATA, ":": "%3A", ",": "%2C"}


def annotation(level: str, properties: Mapping[str, str], text: str) -> str:
    """One command; `level` is error, warning or notice."""
    written = ",".join(f"{name}={_escaped(v, _IN_PROPERTIES)}" for name, v in properties.items())
    return f"::{level} {written}::{_escaped(text, _IN_DATA)}"


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return text.translate({ord(character): code for character, code in escapes.items()})
