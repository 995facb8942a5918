"""Long work in several transactions that ends before it is done: it is said how far it has come.

What is committed stays, and the same command goes on with the rest.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from flow.errors import DatabaseError, FlowError
from flow.wording.cells import counted
from flow_cli.output import Output


class Partly:
    """Entered before the work begins. `total` are how many runs are to go."""

    def __init__(self, printer: Output, total: int) -> None:
        self._printer = printer
        self._total = total
        self._gone = 0

    def advance(self, gone: int) -> None:
        """So many of the runs are gone for certain."""
        self._gone = gone

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self._printer.message(self._told(certain=False))
        elif isinstance(error, Exception) and (known := _known(error)) is not None:
            certain = not isinstance(known, DatabaseError)
            if self._gone or not certain:
                told = self._told(certain=certain)
                hint = f"{known.hint}; {told}" if known.hint else told
                raise type(known)(known.message, hint) from error

    def _told(self, *, certain: bool) -> str:
        """How far it has come. Not `certain`: a transaction may have been committed unheard."""
        goes_on = "the same command goes on with what is left"
        if not self._gone:
            return f"whether something is deleted already is not known; {goes_on}"
        of = f"{self._gone} of {counted(self._total, 'run')} are deleted, the oldest; {goes_on}"
        return of if certain else f"at least {of}"


def _known(error: Exception) -> FlowError | None:
    from flow.ops.deployment import refusal  # who changes something has loaded the driver

    return error if isinstance(error, FlowError) else refusal(error)
