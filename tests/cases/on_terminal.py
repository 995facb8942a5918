"""Verbs with their standard output on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess

from cases.deployment import COMMAND, Deployment


def on_terminal(deployment: Deployment, *command: str, **variables: str) -> str:
    """What a verb shows on a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *command],
        cwd=deployment.project,
        env={**deployment.environment(), "TERM": "xterm-256color", **variables},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ):
        os.close(theirs)
        shown = b""
        while part := _read(ours):
            shown += part
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says EIO when the other side of a terminal is closed
        return b""
