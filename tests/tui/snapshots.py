"""What a screen looks like, as text that can be read in a diff: lines, and below them their styles.

`FLOW_TEST_UPDATE_SNAPSHOTS=1` writes the files of `snapshots/` anew; look at what changed.
"""

from __future__ import annotations

import difflib
import io
import os
from pathlib import Path
from string import ascii_letters, digits
from typing import Any, Final

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.app import App

SIZES: Final = ((80, 24), (120, 40), (200, 60))
FOLDER: Final = Path(__file__).parent / "snapshots"
_LETTERS: Final = ascii_letters + digits + "!$%&/()=?*+#-_"


def assert_looks_as_before(app: App[Any], name: str) -> None:
    """Compare a screen with its snapshot `name`."""
    now, file = picture(app), FOLDER / f"{name}.txt"
    if os.environ.get("FLOW_TEST_UPDATE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(now, encoding="utf-8")
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    if now != before:
        lines = difflib.unified_diff(before.splitlines(), now.splitlines(), "before", "now", n=0)
        raise AssertionError(f"{name} looks different:\n" + "\n".join(lines))


def looks_as_before(app: App[Any], name: str) -> bool:
    """Whether a screen looks as its snapshot `name`, by now."""
    file = FOLDER / f"{name}.txt"
    return file.exists() and picture(app) == file.read_text(encoding="utf-8")


def lines_of(app: App[Any]) -> list[str]:
    """The text of a screen, line by line, without spaces at the ends."""
    return ["".join(segment.text for segment in line).rstrip() for line in _drawn(app)]


def picture(app: App[Any]) -> str:
    """Text and styles: below the lines stands a letter for the style of each column."""
    letters: dict[str, str] = {}
    texts, styles = [], []
    for line in _drawn(app):
        texts.append("".join(segment.text for segment in line).rstrip())
        styled = ""
        for segment in line:
            style = str(segment.style or Style.null())
            letter = letters.setdefault(style, _LETTERS[len(letters)])
            styled += letter * len(segment.text)
        styles.append(styled)
    legend = [f"{letter} {style}" for style, letter in letters.items()]
    return "\n".join([*texts, "", *styles, "", *legend, ""])


def _drawn(app: App[Any]) -> list[list[Segment]]:
    """The segments of each line of all that is shown, what lies over it included."""
    width, height = app.size
    console = Console(
        width=width,
        height=height,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    drawn = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    segments = [one for one in console.render(drawn) if not one.control]
    return list(Segment.split_lines(segments))
