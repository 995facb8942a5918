"""The terminal UI's way to the database: work on threads of its own, answers as they come.

Nothing here blocks the interface. A line is one thread with one connection, opened when it is first
needed and again after it was lost. Reads and changes have a line each, so that a change that waits
for a lock holds up no reading.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final, NamedTuple, TypeVar

from flow.errors import FlowError, UsageError
from flow.ops.deployment import Deployment, open_deployment
from flow.settings import Settings

T = TypeVar("T")
Operation = Callable[[Deployment], T]


class _Task(NamedTuple):
    operation: Operation[Any]
    answer: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Line:
    """One thread, one connection; operations in the order in which they were asked for."""

    def __init__(self, settings: Settings, name: str) -> None:
        self._settings = settings
        self._tasks: Final[queue.SimpleQueue[_Task | None]] = queue.SimpleQueue()
        self._open: ExitStack | None = None
        self._deployment: Deployment | None = None
        # A daemon: leaving the interface does not wait for a statement that hangs.
        self._thread = threading.Thread(target=self._work, name=f"flow-tui-{name}", daemon=True)

    async def do(self, operation: Operation[T]) -> T:
        """What the operation returns. Raises what it raises, and `DatabaseError`."""
        if not self._thread.is_alive():
            self._thread.start()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._tasks.put(_Task(operation, answer, loop))
        return await answer

    def close(self) -> None:
        """Take nothing more on; the connection is closed after what is being done."""
        self._tasks.put(None)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            if task.answer.cancelled():
                continue
            try:
                result = self._do(task.operation)
            except BaseException as error:
                _tell(task, task.answer.set_exception, error)
            else:
                _tell(task, task.answer.set_result, result)
        if self._open is not None:
            self._open.close()

    def _do(self, operation: Operation[T]) -> T:
        if self._deployment is None:
            stack = ExitStack()
            self._deployment = stack.enter_context(open_deployment(self._settings))
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


def _tell(task: _Task, tell: Callable[[Any], None], what: Any) -> None:
    def unless_cancelled() -> None:
        if not task.answer.done():
            tell(what)

    try:
        task.loop.call_soon_threadsafe(unless_cancelled)
    except RuntimeError:
        pass  # the interface has ended meanwhile


class Session:
    """The lines of one interface. With `read_only` nothing can be changed through it."""

    def __init__(self, settings: Settings, *, read_only: bool = False) -> None:
        self.settings = settings
        self.read_only = read_only
        replica = settings.database.replica_url
        near = settings._replace(database=settings.database._replace(url=replica))
        self._reads = Line(near if replica else settings, "reads")
        self._changes = Line(settings, "changes")

    async def read(self, operation: Operation[T]) -> T:
        """Read something."""
        return await self._reads.do(operation)

    async def change(self, operation: Operation[T]) -> T:
        """Change something, or look at what a change would do. Raises `UsageError` if read-only."""
        if self.read_only:
            raise UsageError(
                "this terminal UI is read-only", "start it without --read-only to change something"
            )
        return await self._changes.do(operation)

    def close(self) -> None:
        """Let go of both connections."""
        self._reads.close()
        self._changes.close()
