"""Themes and the colours of states.

A state is a symbol first; the palettes repeat it in colours that people with other eyes tell apart
as well (after Okabe and Ito, "Color Universal Design", 2008).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.terminal_theme import TerminalTheme
from textual.theme import Theme

from flow.wording.looks import LOOKS

THEMES: Final = (
    Theme(
        name="flow",
        primary="#4f8fd0",
        secondary="#8a7fd0",
        accent="#e0a458",
        success="#5fb26a",
        warning="#d9a441",
        error="#d9605a",
        foreground="#d8dee6",
        background="#10151c",
        surface="#161d26",
        panel="#1e2732",
        dark=True,
    ),
    Theme(
        name="flow-light",
        primary="#2f6fb3",
        secondary="#6a5fb5",
        accent="#a8651a",
        success="#2f7d3a",
        warning="#96690f",
        error="#b03a34",
        foreground="#1c2530",
        background="#fbfbf9",
        surface="#f2f2ee",
        panel="#e6e7e2",
        dark=False,
    ),
    Theme(
        name="flow-16",
        primary="ansi_blue",
        secondary="ansi_magenta",
        accent="ansi_yellow",
        success="ansi_green",
        warning="ansi_yellow",
        error="ansi_red",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        dark=True,
        ansi=True,
        variables={
            "ansi-background": "ansi_black",
            "ansi-foreground": "ansi_white",
            "border-blurred": "ansi_bright_black",
            "block-cursor-foreground": "ansi_default",
            "block-cursor-background": "ansi_default",
            "block-cursor-text-style": "bold reverse",
            "input-cursor-background": "ansi_default",
            "input-cursor-foreground": "ansi_default",
            "input-selection-background": "ansi_bright_blue",
            "input-selection-foreground": "ansi_black",
        },
    ),
)
"""The first one is the default; the last one uses the terminal's own sixteen colours.

Its cursors are reversed instead of coloured: so they are seen on any background, and where there
are no colours.
"""

# Background, foreground; black, red, green, yellow, blue, magenta, cyan, white; the bright ones.
ON_DARK: Final = TerminalTheme(
    (16, 21, 28),
    (216, 222, 230),
    [
        (30, 39, 50),
        (232, 116, 110),
        (108, 190, 119),
        (222, 173, 78),
        (110, 168, 230),
        (178, 158, 232),
        (96, 190, 202),
        (216, 222, 230),
    ],
    [
        (110, 122, 136),
        (244, 150, 144),
        (142, 212, 151),
        (240, 200, 120),
        (150, 195, 242),
        (204, 188, 245),
        (140, 215, 224),
        (245, 248, 252),
    ],
)
ON_LIGHT: Final = TerminalTheme(
    (251, 251, 249),
    (28, 37, 48),
    [
        (28, 37, 48),
        (176, 46, 40),
        (40, 116, 52),
        (138, 94, 8),
        (36, 98, 168),
        (118, 74, 172),
        (10, 112, 124),
        (230, 231, 226),
    ],
    [
        (96, 106, 118),
        (200, 66, 58),
        (52, 138, 66),
        (162, 114, 18),
        (52, 122, 196),
        (140, 96, 194),
        (22, 134, 148),
        (251, 251, 249),
    ],
)
"""The colours that styles name, on dark and on light backgrounds: each can be read there."""

_BLUE, _ORANGE, _GREEN, _PURPLE = "#0072b2", "#e69f00", "#009e73", "#cc79a7"
_SKY, _VERMILION, _YELLOW = "#56b4e9", "#d55e00", "#f0e442"

PALETTES: Final[Mapping[str, Mapping[str, str]]] = {
    "default": {},
    "deuteranopia": {
        "scheduled": _SKY,
        "queued": _SKY,
        "running": f"bold {_YELLOW}",
        "success": _BLUE,
        "failed": f"bold {_VERMILION}",
        "skipped": _PURPLE,
        "up_for_retry": _ORANGE,
        "up_for_reschedule": _ORANGE,
        "deferred": _SKY,
        "awaiting_input": f"bold {_ORANGE}",
        "restarting": _ORANGE,
        "upstream_failed": _VERMILION,
    },
    "tritanopia": {
        "scheduled": _SKY,
        "queued": _SKY,
        "running": f"bold {_SKY}",
        "success": _GREEN,
        "failed": f"bold {_VERMILION}",
        "skipped": _PURPLE,
        "up_for_retry": _PURPLE,
        "up_for_reschedule": _PURPLE,
        "deferred": _SKY,
        "awaiting_input": f"bold {_PURPLE}",
        "restarting": _PURPLE,
        "upstream_failed": _VERMILION,
    },
    "mono": {
        state: "bold" if state in ("failed", "running", "awaiting_input") else "" for state in LOOKS
    },
}
"""Styles of states that differ from `flow.wording.looks`, by palette."""
