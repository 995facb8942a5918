"""What pausing and unpausing a DAG leads to, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from flow.wording.cells import counted, text_of

if TYPE_CHECKING:
    from flow.ops.pausing import Paused, Unpaused


def paused(one: Paused) -> str:
    """That a DAG is paused."""
    return f"{one.dag_id} {'is' if one.changed else 'was already'} paused"


def consequences(one: Unpaused) -> list[str]:
    """What follows from unpausing a DAG: runs to be created, runs that start, the next one."""
    from flow.ops.pausing import COUNTED

    zone = ZoneInfo(one.timezone)
    lines = [f"{one.dag_id} {'goes on' if one.changed else 'was not paused'}"]
    if one.due and one.first_start is not None:
        count = f"at least {one.due}" if one.due == COUNTED else str(one.due)
        runs = "run is" if one.due == 1 else "runs are"
        first = text_of(one.first_start.astimezone(zone))
        lines.append(f"  now: {count} {runs} created, from the interval that starts at {first}")
    if one.queued:
        lines.append(f"  now: {counted(one.queued, 'queued run')} may start")
    if one.next_run_at is not None and one.next_start is not None:
        at, start = (text_of(m.astimezone(zone)) for m in (one.next_run_at, one.next_start))
        lines.append(f"  next: at {at}, for the interval that starts at {start}")
    elif not one.due:
        lines.append("  the schedule creates no run")
    return lines
