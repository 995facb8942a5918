"""What `flow status` prints for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flow.wording.cells import counted, text_of
from flow.wording.layout import Cells, aligned
from flow.wording.pools import room

if TYPE_CHECKING:
    from flow.ops.status import Status

_UNITS = ("bytes", "kB", "MB", "GB")


def describe(status: Status) -> list[str]:
    """The sections of the page as lines."""
    lines = ["ROLES"]
    if status.roles:
        rows = [
            (
                role.role,
                f"{role.host}:{role.pid}",
                f"heard of {role.heartbeat_age_s:.0f} s ago",
                "healthy" if role.healthy else "NOT HEALTHY",
                "" if role.slots is None else counted(role.slots, "slot"),
            )
            for role in status.roles
        ]
        lines += _table(rows)
    else:
        lines.append("  none")
    queue, wakeups = status.queue, status.wakeups
    waiting = f", the oldest for {queue.oldest_queued_s:.0f} s" if queue.queued else ""
    late = f", the oldest for {wakeups.oldest_s or 0:.0f} s" if wakeups.due else ""
    lines += [
        "",
        "QUEUE",
        f"  {queue.queued} queued{waiting}, {queue.scheduled} scheduled",
        f"  {wakeups.due} wake-ups due{late}",
        "",
        "POOLS",
        *_table(
            [
                (
                    pool.name,
                    room(pool),
                    f"{pool.running} running",
                    f"{pool.queued} queued",
                    f"{pool.scheduled} scheduled",
                )
                for pool in status.pools
            ]
        ),
        "",
        "DATABASE",
        f"  PostgreSQL {status.database.version}, {_size(status.database.size_bytes)}, schema "
        + ("up to date" if status.database.migrated else "not up to date"),
    ]
    return lines


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    cells = Cells(["" for _ in rows[0]], [[text_of(text) for text in row] for row in rows],
                  [False for _ in rows[0]])  # fmt: skip
    return [f"  {line}" for line in aligned(cells)[1:]]


def _size(count: float) -> str:
    unit = 0
    while count >= 1_000 and unit < len(_UNITS) - 1:
        count /= 1_000
        unit += 1
    return f"{count:.0f} {_UNITS[unit]}"
