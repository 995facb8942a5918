"""How long a task's process takes to import its DAG file. Usage: imports.py FILE [N]

In a child of a process that has loaded what the zygote has. One JSON line, in milliseconds.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from statistics import median

from flow.process import child, preload
from flow.process.load import load_file


def zygote_modules() -> list[str]:
    """What the zygote imports before it forks."""
    return [*preload.MODULES, *sorted(child.modules(child.ENTRIES))]


def import_in_child(file: str) -> float:
    """Seconds that a fresh child spends on importing `file`."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        began = time.perf_counter()
        load_file(file)
        os.write(writer, str(time.perf_counter() - began).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    with os.fdopen(reader) as answer:
        return float(answer.read())


if __name__ == "__main__":
    preload.load(zygote_modules())
    gc.collect()
    gc.freeze()
    times = [import_in_child(sys.argv[1]) for _ in range(int(sys.argv[2]))]
    print(json.dumps({"p50_ms": median(times) * 1000}))
