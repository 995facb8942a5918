"""How a backfill is coming on: a bar with a cell for each interval on a terminal, else lines."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from flow.wording.backfill_progress import Speed, cells, in_words, look_of
from flow.wording.cells import text_of
from flow.wording.looks import can_write_symbols

if TYPE_CHECKING:
    from datetime import datetime

    from rich.live import Live

    from flow.ops.backfills import Details
    from flow.store.read.backfills import Interval

_OVER: Final = ("success", "failed", "deleted")


class Shown(Protocol):
    """Where progress is shown."""

    def show(self, details: Details, ended: Sequence[Interval]) -> None:
        """How it stands, and what has ended since the last time."""


def told(details: Details, interval: Interval) -> str:
    """A line about an interval whose run has ended; of a failure with the command that says why."""
    line = f"{text_of(interval.data_interval_start)} {interval.state}"
    if interval.state == "failed":
        line += f": flow why {details.backfill.dag_id} {interval.run_id}"
    return line


@dataclass(slots=True)
class Follower:
    """Notices what has ended between two looks; of what had ended before the first, failures."""

    known: set[tuple[datetime, str]] | None = None

    def ended(self, intervals: Sequence[Interval]) -> list[Interval]:
        """The intervals to tell about."""
        over = {
            (one.data_interval_start, one.state): one
            for one in intervals
            if one.action != "skip" and one.state in _OVER
        }
        if self.known is None:
            new = [one for one in over.values() if one.state == "failed"]
        else:
            new = [one for key, one in over.items() if key not in self.known]
        self.known = set(over)
        return new


def follow(steps: Iterator[Details], file: TextIO) -> Details:
    """Show every step until the last one, which is returned."""
    with _shown(file) as shown:
        follower = Follower()
        for details in steps:
            shown.show(details, follower.ended(details.intervals))
    return details


def _shown(file: TextIO) -> AbstractContextManager[Shown]:
    return _bar(file) if file.isatty() else nullcontext(_Lines(file))


@dataclass(slots=True)
class _Lines:
    file: TextIO
    speed: Speed | None = None

    def show(self, details: Details, ended: Sequence[Interval]) -> None:
        now = time.monotonic()
        self.speed = self.speed or _speed(details, now)
        for one in ended:
            self.file.write(f"{told(details, one)}\n")
        if ended:
            words = in_words(details, self.speed, now)
            self.file.write(f"backfill {details.backfill.id}: {words}\n")
        self.file.flush()


@contextmanager
def _bar(file: TextIO) -> Iterator[Shown]:
    from rich.live import Live

    from flow_cli.terminal import console_on

    console = console_on(file)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield _Bar(live, can_write_symbols(file.encoding))


@dataclass(slots=True)
class _Bar:
    live: Live
    symbols: bool
    """Whether the terminal can write them."""
    speed: Speed | None = None

    def show(self, details: Details, ended: Sequence[Interval]) -> None:
        from rich.text import Text

        now = time.monotonic()
        self.speed = self.speed or _speed(details, now)
        for one in ended:
            if one.state == "failed":
                # Not folded: a command that is broken in two can no longer be copied.
                self.live.console.print(Text(told(details, one)), soft_wrap=True)
        states = [one.state for one in details.intervals if one.action != "skip"]
        bar = Text()
        for state in cells(states, self.live.console.width):
            look = look_of(state)
            bar.append(look.symbol if self.symbols else look.letter, look.style)
        words = in_words(details, self.speed, now)
        bar.append(f"\nbackfill {details.backfill.id} of {details.backfill.dag_id}: {words}")
        self.live.update(bar, refresh=True)


def _speed(details: Details, now: float) -> Speed:
    return Speed(now, details.backfill.done + details.backfill.failed)
