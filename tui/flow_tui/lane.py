"""A thread that does one thing after the other, and answers the interface."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

T = TypeVar("T")


class _Job(NamedTuple):
    work: Callable[[], Any]
    answer: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Lane:
    """One thread, started when it is first needed."""

    def __init__(self, name: str) -> None:
        self._jobs: Final[queue.SimpleQueue[_Job | None]] = queue.SimpleQueue()
        # A daemon: leaving the interface does not wait for a statement or a disk that hangs.
        self._thread = threading.Thread(target=self._work, name=f"flow-tui-{name}", daemon=True)

    async def do(self, work: Callable[[], T]) -> T:
        """What `work` returns, once it is its turn. Raises what it raises."""
        if not self._thread.is_alive():
            self._thread.start()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._jobs.put(_Job(work, answer, loop))
        return await answer

    def close(self) -> None:
        """Take nothing more on; what has been asked for is still done."""
        self._jobs.put(None)
        if self._thread.ident is None:  # it was never needed
            self.end()

    def end(self) -> None:
        """What the thread does at last."""

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            if job.answer.cancelled():
                continue
            try:
                result = job.work()
            except BaseException as error:
                _tell(job, job.answer.set_exception, error)
            else:
                _tell(job, job.answer.set_result, result)
        self.end()


def _tell(job: _Job, tell: Callable[[Any], None], what: Any) -> None:
    def unless_cancelled() -> None:
        if not job.answer.done():
            tell(what)

    try:
        job.loop.call_soon_threadsafe(unless_cancelled)
    except RuntimeError:
        pass  # the interface has ended meanwhile
