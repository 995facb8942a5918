"""What a DAG processor occupies while it has nothing to do."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import psutil

SPARE: Final = 4
"""Children that a zygote forks ahead."""
_GROWTH: Final = 64 << 20
"""Bytes by which a process may grow."""
_MORE: Final = 4
"""Descriptors and threads that may have come: a connection that was made anew."""


class Footprint(NamedTuple):
    """Of a processor and its zygote, in bytes and counts."""

    size: int
    zygote_size: int
    descriptors: int
    zygote_descriptors: int
    """Without those of the spare children, one each."""
    threads: int
    pipes: int
    """Into which imports print."""

    def growth(self, now: Footprint) -> list[str]:
        """What it has grown by too much since."""
        most = Footprint(
            self.size + _GROWTH,
            self.zygote_size + _GROWTH,
            self.descriptors + _MORE,
            self.zygote_descriptors + _MORE,
            self.threads + _MORE,
            self.pipes,
        )
        return [
            f"{name}: {then} at first, {found} in the end"
            for name, then, found, limit in zip(self._fields, self, now, most, strict=True)
            if found > limit
        ]


def is_idle(pid: int) -> bool:
    """Whether nothing runs below a processor but its zygote and the spare children."""
    below = psutil.Process(pid).children(recursive=True)
    return len(below) <= 1 + SPARE and all(map(_waits, below))


def footprint(pid: int) -> Footprint:
    """Of an idle processor."""
    processor = psutil.Process(pid)
    (zygote,) = processor.children()
    return Footprint(
        processor.memory_info().rss,
        zygote.memory_info().rss,
        processor.num_fds(),
        zygote.num_fds() - len(zygote.children()),
        processor.num_threads() + zygote.num_threads(),
        sum(1 for folder in _folders(pid) for _ in folder.iterdir()),
    )


def _waits(process: psutil.Process) -> bool:
    """Whether a process below has nothing to do: a spare child has not been told where to print."""
    try:
        return "/flow-imports-" not in os.readlink(f"/proc/{process.pid}/fd/1")
    except OSError:
        return False  # it has ended just now


def _folders(pid: int) -> Iterator[Path]:
    """The folders that a processor keeps locked and has its pipes in."""
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        place = Path(os.readlink(descriptor))
        if place.parent == Path(tempfile.gettempdir()) and place.name.startswith("flow-imports-"):
            yield place
