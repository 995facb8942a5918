"""The condition of `@task.skip_if` and `@task.run_if`, called before a task executes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flow.exceptions import SkipException

if TYPE_CHECKING:
    from flow.authoring.context import Context


@dataclass(frozen=True)
class Condition:
    """Skips the task when the truth of `function(context)` equals `skip_when`."""

    function: Callable[..., Any]
    message: str | None
    skip_when: bool
    before: Callable[..., Any] | None
    """Another `pre_execute`, called first."""

    def __call__(self, context: Context) -> None:
        """Raise `SkipException`, or do nothing."""
        if self.before is not None:
            self.before(context)
        answer = self.function(context)
        told = None
        if isinstance(answer, tuple):
            answer, told = answer
        if bool(answer) is self.skip_when:
            name = getattr(self.function, "__name__", "condition")
            raise SkipException(self.message or told or f"{name}(context) was {bool(answer)}")
