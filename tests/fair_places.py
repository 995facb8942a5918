"""The rule of places in a line, as an oracle for what the database computes."""

from __future__ import annotations


def first_place(clock: int | None, last: int | None, stride: int) -> int:
    """The place of the first of some tasks of a DAG that start to wait in a line together.

    `clock` is that of the line, None when nothing is or was in it; `last` the greatest place of the
    DAG's own tasks that wait there, None when there are none.
    """
    return max(clock or 0, last or 0) + stride
