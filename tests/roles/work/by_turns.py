"""A worker with a real zygote and a real database, whose loop a test turns."""

from __future__ import annotations

import select
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flow.roles.work.settings import Settings
from flow.roles.work.worker import Worker
from store.hand_driven import World


@contextmanager
def registered(
    world: World, tmp_path: Path, slots: int = 1, most_slots: int | None = None
) -> Iterator[Worker]:
    """A registered worker with so many slots, or up to so many."""
    made = Worker(
        Settings(
            dsn=world.dsn,
            listen_dsn=world.dsn,
            version="test",
            home=tmp_path,
            logs=tmp_path / "logs",
            key_file=tmp_path / "key",
            slots=slots,
            most_slots=most_slots,
        )
    )
    try:
        made.beat(world.conn)
        yield made
    finally:
        made.host.close()


def turn(world: World, worker: Worker) -> list[str]:
    """One turn of the worker's loop; the states of all tasks, the first to end first."""
    select.select([worker.host], [], [], 0.05)
    worker.listen()
    worker.enforce()
    worker.backlog = True
    worker.tend(world.conn)
    rows = world.conn.execute("select state from task order by ended_at").fetchall()
    return [state for (state,) in rows]
