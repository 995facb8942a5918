"""`flow` in processes that are forked from one that has imported it: a session runs thousands.

A command gets what a new interpreter would give it: a process of its own, its arguments, folder,
environment and streams; and its exit code is its own. What is left out is the start of the
interpreter and the imports, three quarters of a short command. `support.fork_server` is the process
that has them; it lives to the end of the test file that needed it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from threading import Lock
from typing import BinaryIO, Final

SERVER: Final = Path(__file__).with_name("fork_server.py")
WORTH: Final = 3
"""From this command on it pays to start a server for its kind of environment."""
_AT_START: Final = ("PYTHON", "LC_", "LANG", "LANGUAGE", "TZ", "FLOW_FAULTS")
"""How variables begin that count when an interpreter starts or a module is imported."""

Kind = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Server:
    """A process that has imported `flow`, and the line to it."""

    process: subprocess.Popen[bytes]
    line: socket.socket

    def end(self) -> str:
        """Let it go and wait until it has gone; what it has said, which is only why it failed."""
        self.line.close()
        return self.process.communicate()[0].decode()


_servers: dict[Kind, _Server] = {}
_asked: Counter[Kind] = Counter()
_choice = Lock()
"""Commands may be asked for by several threads."""


def run(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run `flow ARGUMENTS…` without input to its end, and to that of its output.

    Raises TimeoutExpired after `seconds`, when it has been killed.
    """
    server = _server_for(env)
    if server is None:
        return start(arguments, cwd=cwd, env=env, seconds=seconds)
    return _forked(server, arguments, cwd, env, seconds)


def start(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    """The same, with an interpreter of its own from the start."""
    return subprocess.run(
        [sys.executable, "-m", "flow_cli", *arguments],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=seconds,
        check=False,
    )


def forget() -> str:
    """End the servers; what they have said."""
    _asked.clear()
    return "".join([_servers.popitem()[1].end() for _ in list(_servers)])


def _server_for(env: Mapping[str, str]) -> _Server | None:
    """The server for commands with such an environment, when there are enough of them."""
    kind = tuple(sorted(one for one in env.items() if one[0].startswith(_AT_START)))
    with _choice:
        _asked[kind] += 1
        if kind not in _servers and _asked[kind] >= WORTH:
            _servers[kind] = _serve(kind)
        return _servers.get(kind)


def _serve(kind: Kind) -> _Server:
    """A server with nothing of a test's own in its environment: tests look for that and kill."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(_AT_START)}
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        process = subprocess.Popen(
            [sys.executable, str(SERVER), str(its.fileno())],
            env=own | dict(kind),
            pass_fds=[its.fileno()],
            stdin=subprocess.DEVNULL,
            # Commands inherit streams that were made for a pipe.
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return _Server(process, ours)


def _forked(
    server: _Server, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    pipes = [os.pipe() for _ in range(3)]
    wish = json.dumps({"arguments": list(arguments), "cwd": str(cwd), "env": dict(env)})
    try:
        socket.send_fds(server.line, [wish.encode()], [written for _, written in pipes])
    finally:
        for _, written in pipes:
            os.close(written)
    answers, out, err = (open(read, "rb", buffering=0) for read, _ in pipes)  # noqa: SIM115
    with answers, out, err:
        answer = answers.readline()
        assert answer, f"nothing to fork commands from:\n{forget()}"
        pid = int(answer)
        try:
            told = _read((out, err), time.monotonic() + seconds)
        except BaseException as error:
            os.kill(pid, signal.SIGKILL)  # it has not been waited for: nobody reads its end but we
            if isinstance(error, TimeoutError):
                raise subprocess.TimeoutExpired(["flow", *arguments], seconds) from None
            raise
        code = int(answers.readline())
    texts = [part.decode().replace("\r\n", "\n").replace("\r", "\n") for part in told]
    return subprocess.CompletedProcess(["flow", *arguments], code, *texts)


def _read(streams: Sequence[BinaryIO], deadline: float) -> list[bytes]:
    """What is written into pipes until nobody has their other ends any more."""
    told = [bytearray() for _ in streams]
    with DefaultSelector() as selector:
        for stream, into in zip(streams, told, strict=True):
            selector.register(stream, EVENT_READ, into)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                part = os.read(key.fd, 1 << 16)
                key.data.extend(part)
                if not part:
                    selector.unregister(key.fileobj)
    return [bytes(part) for part in told]
