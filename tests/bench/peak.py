"""Run one command: its seconds and its peak memory in bytes, as JSON on standard error.

Usage: peak.py COMMAND [ARGUMENT ...]

A process of its own, and a small one: what Linux counts as the peak of a child begins with the
memory of the process that has started it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

if __name__ == "__main__":
    began = time.perf_counter()
    process = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "peak": used.ru_maxrss * 1024}), file=sys.stderr)
    sys.exit(os.waitstatus_to_exitcode(status))
