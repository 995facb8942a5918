"""What a child costs at least. Usage: bare_children.py N

A process that has loaded what the zygote has forks N children that wait. One JSON line: the
proportional set size of a child, in bytes.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import cpu
from imports import zygote_modules

from flow.process import preload


@contextmanager
def children(count: int) -> Iterator[list[int]]:
    """Pids of forked children that do nothing until the end of the block."""
    pids: list[int] = []
    try:
        for _ in range(count):
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            pids.append(pid)
        yield pids
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


if __name__ == "__main__":
    preload.load(zygote_modules())
    gc.collect()
    gc.freeze()
    number = int(sys.argv[1])
    with children(number) as pids:
        print(json.dumps({"bytes": cpu.proportional_size(pids) / number, "children": number}))
