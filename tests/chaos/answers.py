"""PostgreSQL's answers on the wire, as far as it takes to find the one that says COMMIT.

From the server every message is a letter, four bytes of length (counting themselves), and a body;
`C` says that a command is complete, and names it.
"""

from __future__ import annotations

from typing import Final

_HEAD: Final = 5
_COMMITTED: Final = b"C\x00\x00\x00\x0bCOMMIT\x00"


class Answers:
    """The messages of one session from its server, put together again from pieces."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, piece: bytes, *, rob: bool) -> tuple[bytes, bool]:
        """The messages that `piece` completes.

        To `rob` is to end before the first answer to a COMMIT; the second value is whether it came.
        """
        data = self._rest + piece
        end = 0
        while len(data) >= end + _HEAD:
            length = 1 + int.from_bytes(data[end + 1 : end + _HEAD])
            if len(data) < end + length:
                break
            if rob and data[end : end + length] == _COMMITTED:
                return data[:end], True
            end += length
        self._rest = data[end:]
        return data[:end], False
