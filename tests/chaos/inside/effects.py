"""What a task of a chaos workload does to the world; on the path of its tasks.

It marks its beginning, its life and its end in a file outside the product, one line each:

    seconds of CLOCK_MONOTONIC, host, pid, DAG, interval, task, try, event

and its effect is one row for its interval: it deletes what stands there, then puts its own. A try
that works beside another one is seen in both.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

from flow import get_current_context

_PAUSE = 0.1
"""Seconds between two signs of life."""


def work(seconds: float) -> None:
    """Mark, work for so long, put the effect, mark the end."""
    begin(seconds)
    _put_effect()
    mark("end")


def begin(seconds: float) -> None:
    """Mark the beginning, and work for so long."""
    mark("start")
    over = time.monotonic() + seconds
    while time.monotonic() < over:
        time.sleep(_PAUSE)
        mark("alive")
    print("worked for", seconds, "s")  # so that there is something to log


def number() -> int:
    """The number of this try."""
    found: int = get_current_context()["ti"].try_number
    return found


def mark(event: str) -> None:
    """Append one line to the DAG's file of marks, in one write."""
    dag_id, interval, task_id = _place()
    words = (socket.gethostname(), os.getpid(), dag_id, interval, task_id, number(), event)
    line = f"{time.monotonic():.6f} {' '.join(map(str, words))}\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    descriptor = os.open(_folder() / "marks" / dag_id, flags, 0o666)
    os.write(descriptor, line.encode())
    os.close(descriptor)


def _put_effect() -> None:
    dag_id, interval, task_id = _place()
    rows = _folder() / "effects" / dag_id / interval / task_id
    rows.mkdir(parents=True, exist_ok=True)
    for row in rows.iterdir():
        row.unlink(missing_ok=True)
    new = rows.with_name(f".{task_id}.{os.getpid()}")
    new.write_text(str(number()))
    new.rename(rows / f"{number()}.{os.getpid()}")


def _place() -> tuple[str, str, str]:
    context = get_current_context()
    start = context["data_interval_start"].strftime("%Y-%m-%dT%H:%M")
    return context["dag"].dag_id, start, context["ti"].task_id


def _folder() -> Path:
    return Path(os.environ["CHAOS_WORLD"])
