"""Logs of earlier runs, where a run of the same id has been made since.

The path of a log says the id of a run and the number of a try, and both may come again: the logs of
a deleted run stay, and a new run may get its id. So may one in a database that is new, or that was
restored from a backup. A process that begins a try and finds a log at its place sets that aside:

    attempt=1.log  ─▶  attempt=1.earlier-run-1.log      2 for the next one, and so on

- Whatever lies there is of an earlier run. Within a run no number is begun twice: a retry, a loss,
  a drain and a clear each give the next one, and where the number of a try that never started is
  given again, there was no process.
- Who begins the try does it, because nobody else can: who deletes runs may be on any host and see
  no log, and a worker neither may write where its tasks do, nor is to wait for the file system that
  holds logs. It is asked for only where a log is in the way, so an ordinary try pays nothing.
- The file keeps its content, and whoever still reads or writes it keeps doing so.
- Logs of callbacks are not concerned: their numbers never come again in a database, and one that
  went down with its worker goes on in the same log.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

_EARLIER: Final = ".earlier-run-"


def set_aside(path: Path) -> None:
    """Let nothing be at the path of a log whose try begins. Raises OSError.

    An empty file may stay, and what is no file, as a pipe is.
    """
    found = path.lstat()
    if stat.S_ISREG(found.st_mode) and found.st_size:
        last = max(_numbered(path), default=0)
        path.rename(path.with_name(f"{path.stem}{_EARLIER}{last + 1}{path.suffix}"))


def earlier_logs(path: Path) -> list[Path]:
    """What was set aside from the path of a log, the oldest first. Raises OSError."""
    return [one for _, one in sorted(_numbered(path).items())]


def _numbered(path: Path) -> dict[int, Path]:
    """Also what somebody has compressed since: its number is taken."""
    beginning = path.stem + _EARLIER
    found: dict[int, Path] = {}
    try:
        for one in path.parent.iterdir():
            number = one.name.removeprefix(beginning).partition(".")[0]
            if one.name.startswith(beginning) and number.isdecimal():
                found[int(number)] = one
    except FileNotFoundError:
        pass  # no try has made the folder yet
    return found
