"""Ctrl-C of a command that starts something and then looks on: it only stops looking.

So does the loss of the database, which ends the command and not what it has started.
"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Self

from flow.errors import DatabaseError
from flow_cli.output import Output


class Detaching:
    """Entered before something is started, left when its end has been seen.

    Until `goes_on` Ctrl-C waits, so that nobody is left without knowing whether it was started; a
    second one does not. Then Ctrl-C leaves the block, and what `goes_on` was given is printed.
    Main thread only.
    """

    def __init__(self, printer: Output) -> None:
        self._printer = printer
        self._told: str | None = None
        self._interrupted = False

    def goes_on(self, how_to_look: str) -> None:
        """It is started; where to look for it. Raises `KeyboardInterrupt` if that was wanted."""
        self._told = how_to_look
        self._restore()
        if self._interrupted:
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._restore()
        if self._told is None:
            return
        if kind is KeyboardInterrupt:
            self._printer.message(self._told)
        elif error is not None and isinstance(lost := _lost(error), DatabaseError):
            raise DatabaseError(lost.message, self._told) from error

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True
        self._restore()

    def _restore(self) -> None:
        signal.signal(signal.SIGINT, self._before)


def _lost(error: BaseException) -> Exception | None:
    from flow.ops.deployment import refusal  # whoever waits has a deployment, and so the driver

    return refusal(error)
