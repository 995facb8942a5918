"""Logs for systemd's journal: a priority in front of each record, and no time, which it adds.

The form is that of sd-daemon(3): `<3>` to `<7>` at the beginning of a line on standard error.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Final

_PRIORITIES: Final = (
    (logging.CRITICAL, 2),
    (logging.ERROR, 3),
    (logging.WARNING, 4),
    (logging.INFO, 6),
)
"""Levels and the priorities of syslog(3) from there on."""
_DEBUG: Final = 7
_LINE_BREAK: Final = " | "


class JournalFormatter(logging.Formatter):
    """One line a record, traceback and all: each line would be a record of its own."""

    def format(self, record: logging.LogRecord) -> str:
        text = _LINE_BREAK.join(super().format(record).splitlines())
        return f"<{priority(record.levelno)}>{text}"


def priority(level: int) -> int:
    """The priority of a level of `logging`."""
    return next((number for least, number in _PRIORITIES if level >= least), _DEBUG)


def is_journal(descriptor: int, environ: Mapping[str, str]) -> bool:
    """Whether a descriptor is connected to the journal.

    JOURNAL_STREAM names device and inode of the stream (systemd.exec(5)); it is inherited also by
    processes whose output goes elsewhere.
    """
    stream = environ.get("JOURNAL_STREAM")
    if not stream:
        return False
    try:
        found = os.fstat(descriptor)
    except OSError:
        return False
    return stream == f"{found.st_dev}:{found.st_ino}"
