"""Tries of a task and the values that they pushed, as rows of tables."""

from __future__ import annotations

from typing import Final

from flow.store.read.tasks import Try, XCom
from flow.wording.cells import duration_text, text_of
from flow.wording.moments import took
from flow_tui.looks import style_of
from flow_tui.widgets.table import Column, Piece

TRY_COLUMNS: Final = (
    Column[Try]("try", lambda one: str(one.try_number), right=True),
    Column[Try]("state", lambda one: Piece(one.state, style_of(one.state))),
    Column[Try]("took", lambda one: took(one.started_at, one.ended_at), right=True),
    Column[Try]("started", lambda one: text_of(one.started_at), rank=3),
    Column[Try]("exit", lambda one: exit_of(one), rank=1),
    Column[Try]("memory", lambda one: _memory(one.peak_rss_bytes), rank=4, right=True),
    Column[Try]("cpu", lambda one: _cpu(one.cpu_s), rank=5, right=True),
    Column[Try]("worker", lambda one: one.worker, rank=2),
    Column[Try]("reason", lambda one: one.reason or "", rank=0),
)
XCOM_COLUMNS: Final = (
    Column[XCom]("key", lambda one: one.key),
    Column[XCom]("value", lambda one: one.value, widest=200),
    Column[XCom]("try", lambda one: str(one.try_number), rank=2, right=True),
    Column[XCom]("pushed", lambda one: text_of(one.created_at), rank=1),
)


def exit_of(one: Try) -> str:
    """How its process ended, unless that says nothing."""
    if one.signal is not None:
        return f"signal {one.signal}"
    return f"exit code {one.exit_code}" if one.exit_code else ""


def _memory(size: int | None) -> str:
    return f"{size / 2**20:.0f} MB" if size is not None else ""


def _cpu(seconds: float | None) -> str:
    return duration_text(seconds) if seconds is not None else ""
