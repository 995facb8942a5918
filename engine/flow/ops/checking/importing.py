"""Importing many DAG files side by side, as the DAG processor does it, without its database."""

from __future__ import annotations

import os
import selectors
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Final

from flow.ops.checking.targets import Target
from flow.ops.interrupts import Interrupts
from flow.ops.rehearsal.memory import Memory
from flow.process.events import ChildMessage
from flow.process.messages import (
    GetConnection,
    GetSchedulePosition,
    GetVariable,
    ToChild,
)
from flow.process.verdict import Limits
from flow.roles.loop import wait
from flow.roles.parse.answers import refuse
from flow.roles.parse.imports import Imported, Imports

_LONGEST_WAIT: Final = 3600.0
_ASKABLE: Final = (GetVariable, GetConnection, GetSchedulePosition)


class Importing:
    """One round of imports, in processes that no other round has had a part in.

    So what differs between two rounds is what differs between two imports of a DAG processor:
    the time, chance, the order of sets. `done` is told the number of files that are done.
    """

    def __init__(
        self, limits: Limits, timezone: str, memory: Memory, done: Callable[[int], None]
    ) -> None:
        self._limits = limits
        self._timezone = timezone
        self._memory = memory
        self._done = done
        self._found: dict[str, Imported] = {}
        self._targets: dict[str, Target] = {}
        self._alone: deque[Target] = deque()
        self._suspects: set[str] = set()
        """Files beside which all processes have died once."""

    def run(self, targets: Iterable[Target]) -> dict[str, Imported]:
        """Import all; by file. Raises `KeyboardInterrupt` once every process has ended."""
        waiting = deque(targets)
        self._targets = {target.file: target for target in waiting}
        slots = len(os.sched_getaffinity(0))
        with (
            Interrupts() as interrupts,
            closing(
                Imports(uuid.uuid4().hex, self._limits, timezone=self._timezone, observe=True)
            ) as imports,
            selectors.DefaultSelector() as selector,
        ):
            selector.register(imports, selectors.EVENT_READ)
            selector.register(interrupts, selectors.EVENT_READ)
            while waiting or self._alone or len(imports):
                while waiting and len(imports) < slots:
                    imports.start(*waiting.popleft())
                if not waiting and self._alone and not len(imports):
                    imports.start(*self._alone.popleft())
                wait(selector, self._patience(imports))
                if interrupts.count:
                    raise KeyboardInterrupt
                self._hear(imports)
                imports.stop_overdue()
        return self._found

    def _patience(self, imports: Imports) -> float:
        deadline = imports.next_deadline()
        return _LONGEST_WAIT if deadline is None else max(0.0, deadline - time.monotonic())

    def _hear(self, imports: Imports) -> None:
        for news in imports.news():
            if isinstance(news, ChildMessage):
                imports.host.reply(news.job_id, self._answer(news))
            elif news.ended is None and news.path not in self._suspects:
                # Nobody knows yet whether this one or another has ended them all.
                self._suspects.add(news.path)
                self._alone.append(self._targets[news.path])
            else:
                self._found[news.path] = news
                self._done(len(self._found))

    def _answer(self, news: ChildMessage) -> ToChild:
        if isinstance(news.message, _ASKABLE):
            return self._memory.answer(news.message, None)
        return refuse(news.message)
