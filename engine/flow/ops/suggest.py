"""What somebody probably meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

_SUGGESTED = 3
_SHORTEST = 3
"""Characters of a part that says something of the name in which it stands."""


def did_you_mean(name: str, names: Sequence[str], otherwise: str) -> str:
    """A hint with the nearest names, else `otherwise`."""
    folded = {known.casefold(): known for known in names}
    near = [folded[found] for found in get_close_matches(name.casefold(), folded, _SUGGESTED)]
    part = name.casefold() if len(name) >= _SHORTEST else None
    within = [known for known in names if part and part in known.casefold()]
    meant = list(dict.fromkeys([*near, *within]))[:_SUGGESTED]
    return f"did you mean {' or '.join(meant)}?" if meant else otherwise
