"""Colours of states, to choose from. A symbol says the state in all; a colour repeats it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Palette = Mapping[str, str]
"""The rich style of each state."""

DEFAULT: Final = "default"

PALETTES: Final[Mapping[str, Palette]] = {
    DEFAULT: {
        "none": "#6e7681",
        "scheduled": "#39c5cf",
        "queued": "#39c5cf",
        "running": "bold #58a6ff",
        "success": "#3fb950",
        "failed": "bold #ffffff on #c93c37",
        "skipped": "#bc8cff",
        "up_for_retry": "bold #d29922",
        "up_for_reschedule": "#d29922",
        "deferred": "#79c0ff",
        "awaiting_input": "bold #e3b341",
        "restarting": "#e3b341",
        "upstream_failed": "bold #f0706a",
        "removed": "#6e7681",
    },
    # After Okabe and Ito: told apart with any of the common colour vision deficiencies.
    "deuteranopia": {
        "none": "#8a8a8a",
        "scheduled": "#cc79a7",
        "queued": "#cc79a7",
        "running": "bold #f0e442",
        "success": "#56b4e9",
        "failed": "bold #000000 on #d55e00",
        "skipped": "#999999",
        "up_for_retry": "bold #e69f00",
        "up_for_reschedule": "#e69f00",
        "deferred": "#009e73",
        "awaiting_input": "bold #e69f00",
        "restarting": "#e69f00",
        "upstream_failed": "bold #d55e00",
        "removed": "#8a8a8a",
    },
    "mono": {
        "none": "dim",
        "scheduled": "",
        "queued": "",
        "running": "bold",
        "success": "dim",
        "failed": "bold reverse",
        "skipped": "dim",
        "up_for_retry": "bold",
        "up_for_reschedule": "bold",
        "deferred": "",
        "awaiting_input": "bold underline",
        "restarting": "bold",
        "upstream_failed": "bold underline",
        "removed": "dim",
    },
}
