"""The process that `support.forked_command` forks commands from: it imports, and runs nothing.

Between it and a command stands a process that waits for the command's end and tells its exit code,
so that a command which takes its time holds up nobody.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Final

_PACKAGES: Final = ("flow_cli", "flow.ops")
_APART: Final = frozenset({"__main__", "project", "demo_project", "generate"})
"""Names of modules that run something when they are imported, and of DAG files."""


def load() -> None:
    """Import what commands import."""
    for name in _PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not _APART & set(module.name.split(".")):
                importlib.import_module(module.name)
    gc.freeze()  # a collection would copy what parent and children share


def serve(line: socket.socket) -> None:
    """Fork for each request. Returns in the command, ready to run; ends when nobody asks more."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    while True:
        wish, given, _, _ = socket.recv_fds(line, 1 << 18, 3)
        if not wish:
            sys.exit()
        if os.fork() == 0:
            break
        for descriptor in given:
            os.close(descriptor)
    line.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    answers, *streams = given
    command = os.fork()
    if command:
        _wait(command, answers, streams)
    os.close(answers)
    _become(streams, **json.loads(wish))


def _wait(command: int, answers: int, streams: Sequence[int]) -> None:
    """Tell the process id and the exit code of the command."""
    for descriptor in streams:
        os.close(descriptor)
    os.write(answers, f"{command}\n".encode())
    _, status = os.waitpid(command, 0)
    os.write(answers, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _become(
    streams: Sequence[int], arguments: Sequence[str], cwd: str, env: dict[str, str]
) -> None:
    """Have what `python -m flow_cli ARGUMENTS…` has when it begins."""
    for standard, descriptor in zip((1, 2), streams, strict=True):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path[0] = cwd
    sys.argv = ["flow", *arguments]


if __name__ == "__main__":
    load()
    serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("flow_cli", run_name="__main__", alter_sys=True)
