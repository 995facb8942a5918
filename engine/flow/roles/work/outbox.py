"""What a worker owes the store: how tries ended, which processes are dead, which callbacks ran.

Whatever cannot be written stays here until it can, or until the worker is taken for lost.
"""

from __future__ import annotations

import logging

from flow.decide import Ending
from flow.roles.work.held import HeldTry
from flow.states import TaskState
from flow.store import callbacks, stopping, tries
from flow.store.callbacks import NewCallback
from flow.store.connect import Conn, transaction
from flow.store.notify import QUEUED, WAKE, Notifier
from flow.store.tries import Claim, Report

log = logging.getLogger(__name__)


class Outbox:
    """The reports of one worker, in the order in which they came about."""

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._reports: list[tuple[Report, NewCallback | None]] = []
        self._dead: list[Claim] = []
        """Claims that did not count any more and whose processes are dead."""
        self._callbacks: list[int] = []

    @property
    def empty(self) -> bool:
        """Whether nothing is owed."""
        return not (self._reports or self._dead or self._callbacks)

    @property
    def claims(self) -> set[Claim]:
        """The claims that something is to be said of."""
        return {said.claim for said, _ in self._reports} | set(self._dead)

    @property
    def callback_ids(self) -> set[int]:
        """The callbacks that are over."""
        return set(self._callbacks)

    def ended(self, held: HeldTry, found: Ending, kind: str | None) -> None:
        """A try has ended, and a callback of this kind has to run instead of the try's own."""
        said = Report(held.task.key, found, pid=held.pid, log=held.log)
        reason = found.reason or "failed"
        self._reports.append((said, callbacks.of_try(held.task, kind, reason) if kind else None))

    def dead(self, claim: Claim) -> None:
        """The process of a claim that does not count any more is dead."""
        self._dead.append(claim)

    def callback_over(self, callback_id: int) -> None:
        """A callback has run, or never can."""
        self._callbacks.append(callback_id)

    def clear(self) -> None:
        """Owe nothing any more: another may have all of it."""
        self._reports.clear()
        self._dead.clear()
        self._callbacks.clear()

    def send(self, conn: Conn, process_id: int | None) -> None:
        """Write all that is owed by this worker; what fails stays. Raises psycopg's errors."""
        self._report(conn, process_id)
        self._confirm_dead(conn)

    def _report(self, conn: Conn, process_id: int | None) -> None:
        """Write how tries and callbacks ended."""
        if not self._reports and not self._callbacks:
            return
        reports, over = list(self._reports), list(self._callbacks)
        with transaction(conn, "work.report", closing=self._notifier.settle):
            counted = tries.report(conn, [said for said, _ in reports])
            callbacks.add(
                conn, [callback for said, callback in reports if callback and said.claim in counted]
            )
            for callback_id in over:
                callbacks.done(conn, callback_id, process_id or 0)
            if reports:
                self._notifier.owe(WAKE)
        del self._reports[: len(reports)]
        del self._callbacks[: len(over)]
        for said, callback in reports:
            if said.ending.state is TaskState.NONE:
                continue  # it was stopped, as it should be
            if said.claim not in counted:
                self._dead.append(said.claim)
                log.warning("%s: its end came too late and does not count", said.claim)
            elif callback:
                self._notifier.send(conn, QUEUED)

    def _confirm_dead(self, conn: Conn) -> None:
        """Say that processes which did not count any more are dead."""
        if self._dead:
            dead = list(self._dead)
            with transaction(conn, "work.confirm"):
                noted = stopping.gone(conn, dead)
            del self._dead[: len(dead)]
            if noted:
                self._notifier.send(conn, WAKE)
