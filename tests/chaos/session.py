"""Whether PostgreSQL lets a session begin, asked in the first words of its protocol."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Final

_VERSION: Final = (3 << 16).to_bytes(4)
_WHO: Final = b"user\x00flow\x00database\x00flow\x00\x00"
_BEGIN: Final = (8 + len(_WHO)).to_bytes(4) + _VERSION + _WHO
_WELCOME: Final = b"R"
_LIMIT: Final = 2.0


def begins(path: Path) -> bool:
    """Whether the server at a socket answers with a login, and not with an error."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_LIMIT)
        try:
            client.connect(str(path))
            client.sendall(_BEGIN)
            return client.recv(1) == _WELCOME
        except OSError:
            return False
