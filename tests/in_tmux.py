"""The real program in a terminal of tmux: keys go in, and what stands on the screen comes out."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from absent import absent
from waiting import limit

_SETTINGS: Final = """
set -g default-terminal screen-256color
set -g remain-on-exit on
set -g status off
set -s escape-time 0
"""
_NOTED: Final = '"$@"; code=$?; echo $code >"$0"; exit $code'
"""A shell that notes with which code a program has ended.

tmux knows it, too, but not always: on a busy machine its server leaves the end of one program in
twenty unnoticed until it gets a signal for another one.
"""
_SIZE: Final = ("COLUMNS", "LINES")
_PAUSE: Final = 0.05
"""Seconds between two looks at the screen."""
_ANSWER: Final = 60.0
"""Seconds within which tmux itself has to answer."""


class Terminal:
    """A screen that somebody looks at, and a keyboard."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._socket = folder / "tmux"
        self.ended = folder / "tmux.ended"
        """Where the code stands with which the program has ended."""
        # Programs believe these rather than the terminal, and pytest's workers have them.
        beside = {name: text for name, text in environment.items() if name not in _SIZE}
        self._environment = {**beside, "LC_ALL": "C.UTF-8"}

    def press(self, *keys: str) -> None:
        """Press keys by the names that tmux has for them."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type letters."""
        self.tmux("send-keys", "-l", text)

    def move_focus(self, *keys: str, of: str) -> None:
        """Press keys, and wait until a word gets or loses the colours of what has the focus.

        The next key could reach the place where the focus was before.
        """
        before = self._colours(of)
        self.press(*keys)
        deadline = time.monotonic() + limit(_ANSWER)
        while self._colours(of) == before:
            assert time.monotonic() < deadline, f"the focus does not move:\n{self.screen()}"
            time.sleep(_PAUSE)

    def _colours(self, word: str) -> str:
        """What the terminal is told before a word, on the last line that has it."""
        shown = self.tmux("capture-pane", "-p", "-e")
        return shown[: shown.rindex(word)].rpartition("\n")[2]

    def screen(self) -> str:
        """What is seen now."""
        return self.tmux("capture-pane", "-p")

    def line_with(self, *texts: str) -> str | None:
        """The first line on which all these texts are seen."""
        fits = (line for line in self.screen().splitlines() if all(text in line for text in texts))
        return next(fits, None)

    def until(self, *texts: str, seconds: float = 60.0) -> str:
        """Wait until all these texts are seen on one line, and return it."""
        deadline = time.monotonic() + limit(seconds)
        while (line := self.line_with(*texts)) is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"waited in vain for {' … '.join(texts)}:\n{self.screen()}")
            time.sleep(_PAUSE)
        return line

    def until_gone(self, text: str, seconds: float = 60.0) -> None:
        """Wait until a text is not seen any more."""
        deadline = time.monotonic() + limit(seconds)
        while self.line_with(text) is not None:
            if time.monotonic() > deadline:
                raise AssertionError(f"{text} does not go away:\n{self.screen()}")
            time.sleep(_PAUSE)

    def until_left(self) -> int:
        """Wait until the program has ended; its exit code."""
        deadline = time.monotonic() + limit(_ANSWER)
        while not (self.ended.exists() and (code := self.ended.read_text(encoding="ascii"))):
            assert time.monotonic() < deadline, f"it does not end:\n{self.screen()}"
            time.sleep(_PAUSE)
        return int(code)

    def tmux(self, *words: str) -> str:
        """What a command of tmux prints."""
        done = subprocess.run(
            ["tmux", "-u", "-S", str(self._socket), *words],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=limit(_ANSWER),
            check=False,
        )
        assert done.returncode == 0, f"tmux {shlex.join(words)}: {done.stderr}"
        return done.stdout


@contextmanager
def terminal(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    size: tuple[int, int] = (120, 40),
) -> Iterator[Terminal]:
    """A command in a terminal of its own, in a folder; whatever is left of it is ended.

    What tmux needs is put into the folder, which has a short path.
    """
    if shutil.which("tmux") is None:
        absent("tmux is not installed (Debian: tmux)")
    settings = folder / "tmux.conf"
    settings.write_text(_SETTINGS, encoding="utf-8")
    made = Terminal(folder, environment)
    made.ended.unlink(missing_ok=True)
    width, height = size
    where = ("-c", str(folder), "-x", str(width), "-y", str(height))
    noted = shlex.join(("sh", "-c", _NOTED, str(made.ended), *command))
    made.tmux("-f", str(settings), "new-session", "-d", *where, noted)
    try:
        yield made
    finally:
        made.tmux("kill-server")
