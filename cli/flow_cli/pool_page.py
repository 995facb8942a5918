"""What `flow pools show` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flow.wording.cells import text_of
from flow_cli.records import plain, row_of

if TYPE_CHECKING:
    from flow.ops.pools import PoolUse


def describe(use: PoolUse) -> tuple[list[str], dict[str, Any]]:
    """A pool as lines for people, and as the JSON object that says the same."""
    pool = use.pool
    size = "no limit" if pool.open is None else f"{pool.slots}, {pool.open} open"
    lines = [
        f"POOL      {pool.name}",
        *([f"          {pool.description}"] if pool.description else []),
        f"SLOTS     {size}",
        f"DEFERRED  {'keep their slots' if pool.include_deferred else 'give their slots back'}",
        "",
        "HELD BY",
    ]
    lines += [
        f"  {one.dag_id}: {_tasks(one.tasks)}, {_slots(one.slots)}; the oldest is {one.oldest}, "
        f"since {text_of(one.since)}"
        for one in use.holders
    ] or ["  nobody"]
    lines += ["", "WAITED FOR BY"]
    lines += [
        f"  {one.dag_id}: {_tasks(one.tasks)}, {_slots(one.slots)}, priority {one.priority}, since "
        f"{text_of(one.since)}: {one.reason}"
        for one in use.waiting
    ] or ["  nobody"]
    record = {**row_of(pool), "holders": plain(use.holders), "waiting": plain(use.waiting)}
    return lines, record


def _tasks(count: int) -> str:
    return f"{count} task" if count == 1 else f"{count} tasks"


def _slots(count: int) -> str:
    return f"{count} slot" if count == 1 else f"{count} slots"
