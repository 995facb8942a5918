"""What a worker owes the store: how tries ended, which processes are dead, which callbacks ran.

Whatever cannot be written stays here until it can, or until the worker is taken for lost. While
there is no database it is kept on disk as well (`flow.roles.work.kept`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from flow.decide import Ending
from flow.roles.work.held import HeldTry
from flow.roles.work.kept import EndedCallback, EndedTry, Kept, Record
from flow.states import TaskState
from flow.store import callbacks, stopping, tries
from flow.store.connect import Conn, transaction
from flow.store.notify import QUEUED, WAKE, Notifier
from flow.store.tries import Claim, Report

log = logging.getLogger(__name__)


def hand_in(conn: Conn, process_id: int, records: Sequence[Record]) -> set[Claim]:
    """Write how tries and callbacks of a worker ended; the claims whose end counted."""
    ended = [one for one in records if isinstance(one, EndedTry)]
    counted = tries.report(conn, [one.report for one in ended])
    callbacks.add(
        conn, [one.callback for one in ended if one.callback and one.report.claim in counted]
    )
    for one in records:
        if isinstance(one, EndedCallback):
            callbacks.done(conn, one.callback_id, process_id)
    return counted


class Outbox:
    """The reports of one worker, in the order in which they came about."""

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._records: list[Record] = []
        self._dead: list[Claim] = []
        """Claims that did not count any more and whose processes are dead."""
        self._kept: Kept | None = None
        self._on_disk = 0
        """How many records, the first ones, are on disk too."""
        self._full = False
        """The disk has refused a record, and this has been said."""

    @property
    def empty(self) -> bool:
        """Whether nothing is owed."""
        return not (self._records or self._dead)

    @property
    def safe(self) -> bool:
        """Whether a successor would find on disk what is owed."""
        return self._on_disk == len(self._records)

    @property
    def claims(self) -> set[Claim]:
        """The claims that something is to be said of."""
        said = {one.report.claim for one in self._records if isinstance(one, EndedTry)}
        return said | set(self._dead)

    @property
    def callback_ids(self) -> set[int]:
        """The callbacks that are over."""
        return {one.callback_id for one in self._records if isinstance(one, EndedCallback)}

    def ended(self, held: HeldTry, found: Ending, kind: str | None) -> None:
        """A try has ended, and a callback of this kind has to run instead of the try's own."""
        said = Report(held.task.key, found, pid=held.pid, log=held.log)
        reason = found.reason or "failed"
        callback = callbacks.of_try(held.task, kind, reason) if kind else None
        self._records.append(EndedTry(said, callback))

    def dead(self, claim: Claim) -> None:
        """The process of a claim that does not count any more is dead."""
        self._dead.append(claim)

    def callback_over(self, callback_id: int) -> None:
        """A callback has run, or never can."""
        self._records.append(EndedCallback(callback_id))

    def use(self, kept: Kept) -> None:
        """Keep what comes from now on here, when it has to be kept."""
        self._kept = kept

    def keep(self) -> None:
        """There is no database: bring onto the disk what is not there yet. Never fails."""
        fresh = self._records[self._on_disk :]
        if not fresh or self._kept is None:
            return
        try:
            self._kept.add(fresh)
        except OSError as error:
            if not self._full:
                self._full = True
                log.error(
                    "%d results cannot be kept in %s (%s): they stay in memory",
                    len(fresh), self._kept.path, error.strerror or error,
                )  # fmt: skip
            return
        self._full = False
        self._on_disk = len(self._records)
        log.warning("%d results are kept in %s", len(fresh), self._kept.path)

    def clear(self) -> None:
        """Owe nothing any more: another may have all of it."""
        self._records.clear()
        self._dead.clear()
        self._forget()

    def send(self, conn: Conn, process_id: int | None) -> None:
        """Write all that is owed by this worker; what fails stays. Raises psycopg's errors."""
        self._report(conn, process_id)
        self._confirm_dead(conn)

    def _report(self, conn: Conn, process_id: int | None) -> None:
        """Write how tries and callbacks ended."""
        records = list(self._records)
        if not records:
            return
        ended = [one for one in records if isinstance(one, EndedTry)]
        with transaction(conn, "work.report", closing=self._notifier.settle):
            counted = hand_in(conn, process_id or 0, records)
            if ended:
                self._notifier.owe(WAKE)
        del self._records[: len(records)]
        self._forget()
        for one in ended:
            claim, ending = one.report.claim, one.report.ending
            if ending.state is TaskState.NONE:
                continue  # it was stopped, as it should be
            if claim not in counted:
                self._dead.append(claim)
                log.warning("%s: its end came too late and does not count", claim)
            elif one.callback:
                self._notifier.send(conn, QUEUED)

    def _forget(self) -> None:
        """Nothing is owed that is on disk."""
        if self._on_disk and self._kept is not None:
            self._kept.forget()
        self._on_disk = 0

    def _confirm_dead(self, conn: Conn) -> None:
        """Say that processes which did not count any more are dead."""
        if self._dead:
            dead = list(self._dead)
            with transaction(conn, "work.confirm"):
                noted = stopping.gone(conn, dead)
            del self._dead[: len(dead)]
            if noted:
                self._notifier.send(conn, WAKE)
