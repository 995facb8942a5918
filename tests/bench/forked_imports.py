"""What importing DAG files costs at least. Usage: forked_imports.py FOLDER

A process that has loaded what the zygote has forks for each file a child that compiles and runs it
and exits. One JSON line: the CPU of both, in milliseconds a file.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

from imports import zygote_modules

from flow.process import preload


def run_in_child(file: str) -> None:
    """Fork, compile and run the file, exit, wait."""
    pid = os.fork()
    if pid == 0:
        code = compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)
        exec(code, {"__name__": "dag_file", "__file__": file})
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert status == 0, f"{file} cannot be imported"


def cpu() -> float:
    """Seconds of CPU of this process and its dead children."""
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in uses)


if __name__ == "__main__":
    preload.load(zygote_modules())
    files = sorted(map(str, Path(sys.argv[1]).glob("*.py")))
    before = cpu()
    for file in files:
        run_in_child(file)
    print(json.dumps({"ms_per_file": (cpu() - before) * 1000 / len(files), "files": len(files)}))
