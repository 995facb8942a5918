"""A worker's death, as its successor on the same host finds it."""

from __future__ import annotations

import logging
from pathlib import Path

from flow.process import environment, tree
from flow.roles.losses import free
from flow.roles.work import marker
from flow.store import processes
from flow.store.connect import Conn, transaction

log = logging.getLogger(__name__)


def succeed(conn: Conn, home: Path, hostname: str) -> None:
    """End what dead workers of this home left running, and free their tries at once."""
    here = {one.process_id for one in processes.on_host(conn, "work", hostname)}
    for process_id, text in marker.of_dead(home):
        left = tree.kill_marked(environment.marker(text))
        if left:
            # What still runs may still write: nobody may start these tries again yet.
            log.error("worker %d had died here; cannot end its processes %s", process_id, left)
            continue
        if process_id in here:
            with transaction(conn, "work.succeed"):
                if processes.end(conn, process_id, "died"):
                    free(conn, process_id, f"worker {process_id} on {hostname} died")
            log.warning("worker %d had died here; freed its tries", process_id)
        # One that a scheduler had declared lost has no tries any more, but it had processes.
        marker.forget(home, process_id)
