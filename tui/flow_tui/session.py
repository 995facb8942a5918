"""The terminal UI's way to the database: work on threads of its own, answers as they come.

Nothing here blocks the interface. A line is one thread with one connection, opened when it is first
needed and again after it was lost. Reads and changes have a line each, so that a change that waits
for a lock holds up no reading; what takes long (rendering runs user code) has a third.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from flow.errors import FlowError, UsageError
from flow.ops.deployment import Deployment, open_deployment
from flow.settings import Settings
from flow_tui.lane import Lane

if TYPE_CHECKING:
    from flow_tui.beginning import Begun

READ_PATIENCE: Final = 15.0
"""Seconds that a statement which only reads may take. Whoever waits for a host that has gone waits
a little longer, and then for another connection."""

T = TypeVar("T")
Operation = Callable[[Deployment], T]


class Line(Lane):
    """One thread, one connection; operations in the order in which they were asked for."""

    def __init__(self, settings: Settings, name: str, patience: float | None = None) -> None:
        super().__init__(name)
        self._settings = settings
        self._patience = patience
        self._open: ExitStack | None = None
        self._deployment: Deployment | None = None

    def go_on(self, begun: Begun) -> None:
        """Use the connection that was opened before there was an interface."""
        self._deployment, self._open = begun.deployment, begun.stack

    async def ask(self, operation: Operation[T]) -> T:
        """What the operation returns. Raises what it raises, and `DatabaseError`."""
        return await self.do(partial(self._ask, operation))

    def end(self) -> None:
        """Close the connection."""
        if self._open is not None:
            self._open.close()

    def _ask(self, operation: Operation[T]) -> T:
        if self._deployment is None:
            stack = ExitStack()
            self._deployment = stack.enter_context(
                open_deployment(self._settings, patience=self._patience)
            )
            self._open = stack
        try:
            return operation(self._deployment)
        except FlowError:
            raise
        except BaseException as error:
            self._drop(error)
            raise

    def _drop(self, error: BaseException) -> None:
        """Close the connection as after an error in its block, which says what it means."""
        stack, self._open, self._deployment = self._open, None, None
        assert stack is not None
        stack.__exit__(type(error), error, error.__traceback__)


class Session:
    """The lines of one interface. With `read_only` nothing can be changed through it."""

    def __init__(self, settings: Settings, *, read_only: bool = False) -> None:
        self.settings = settings
        self.read_only = read_only
        replica = settings.database.replica_url
        near = settings._replace(database=settings.database._replace(url=replica))
        self.near = near if replica else settings
        """Where reads go."""
        self._reads = Line(self.near, "reads", READ_PATIENCE)
        self._slow = Line(self.near, "slow")
        self._changes = Line(settings, "changes")
        self.files = Lane("files")
        """Where logs are read: on a slow disk nothing else waits for them."""

    def go_on(self, begun: Begun) -> None:
        """Read through the connection that was opened before there was an interface."""
        self._reads.go_on(begun)

    async def read(self, operation: Operation[T]) -> T:
        """Read something."""
        return await self._reads.ask(operation)

    async def read_slowly(self, operation: Operation[T]) -> T:
        """Read something that takes long, without holding up other reads."""
        return await self._slow.ask(operation)

    async def change(self, operation: Operation[T]) -> T:
        """Change something, or look at what a change would do. Raises `UsageError` if read-only."""
        if self.read_only:
            raise UsageError(
                "this terminal UI is read-only", "start it without --read-only to change something"
            )
        return await self._changes.ask(operation)

    def close(self) -> None:
        """Let go of all connections."""
        for lane in (self._reads, self._slow, self._changes, self.files):
            lane.close()
