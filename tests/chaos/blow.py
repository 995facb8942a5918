"""A fault that has struck: how long it lasts, and when what it struck is whole again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from chaos.plan import Fault


def _nothing() -> None:
    """There is nothing to undo."""


def _yes() -> bool:
    return True


def _no() -> bool:
    return False


@dataclass
class Blow:
    """A fault in progress. Nothing else strikes its `parts` until it is over."""

    fault: Fault
    victim: str
    parts: frozenset[str]
    undo: Callable[[], None] = _nothing
    has_begun: Callable[[], bool] = _yes
    """From when on its seconds count."""
    is_enough: Callable[[], bool] = _no
    """Whether it need not last longer."""
    is_whole: Callable[[], bool] = _yes
    """Once it has been undone: whether what it struck is as before."""
    struck: float = field(default_factory=time.monotonic)
    _began: float | None = None
    _undone: bool = False

    def go_on(self) -> bool:
        """Undo it when its time has come; whether it is over."""
        now = time.monotonic()
        if self._began is None and self.has_begun():
            self._began = now
        if self._began is None:
            return False
        if not self._undone and (now >= self._began + self.fault.seconds or self.is_enough()):
            self.undo()
            self._undone = True
        return self._undone and self.is_whole()
