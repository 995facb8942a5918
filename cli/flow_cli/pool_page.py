"""What `flow pools show` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flow.wording.cells import counted, text_of
from flow.wording.pools import deferred, room
from flow_cli.records import plain, row_of

if TYPE_CHECKING:
    from flow.ops.pools import Holder, PoolUse, Waiting


def describe(use: PoolUse) -> tuple[list[str], dict[str, Any]]:
    """A pool as lines for people, and as the JSON object that says the same."""
    pool = use.pool
    lines = [
        f"POOL      {pool.name}",
        *([f"          {pool.description}"] if pool.description else []),
        f"SLOTS     {room(pool)}",
        f"DEFERRED  {deferred(pool)}",
        "",
        "HELD BY",
    ]
    lines += [
        f"{_amount(one)}; the oldest is {one.oldest}, since {text_of(one.since)}"
        for one in use.holders
    ] or ["  nobody"]
    lines += ["", "WAITED FOR BY"]
    lines += [
        f"{_amount(one)}, priority {one.priority}, since {text_of(one.since)}: {one.reason}"
        for one in use.waiting
    ] or ["  nobody"]
    record = {**row_of(pool), "holders": plain(use.holders), "waiting": plain(use.waiting)}
    return lines, record


def _amount(one: Holder | Waiting) -> str:
    return f"  {one.dag_id}: {counted(one.tasks, 'task')}, {counted(one.slots, 'slot')}"
