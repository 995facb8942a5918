"""A worker's death, as its successor on the same host finds it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from flow.process import environment, tree
from flow.process.cgroup import WorkerGroup
from flow.roles.losses import free
from flow.roles.work import kept, marker
from flow.roles.work.kept import EndedTry, Record
from flow.roles.work.outbox import hand_in
from flow.store import processes
from flow.store.connect import UNFIT_VALUES, Conn, transaction

log = logging.getLogger(__name__)


def succeed(conn: Conn, home: Path, hostname: str, group: WorkerGroup | None = None) -> None:
    """End what dead workers of this home left running, report the results that they kept, and free
    their other tries at once."""
    pids = {one.process_id: one.pid for one in processes.on_host(conn, "work", hostname)}
    for process_id, text in marker.of_dead(home):
        if group is not None:
            group.end_sibling(text)
        left = tree.kill_marked(environment.marker(text))
        if left:
            # What still runs may still write: nobody may start these tries again yet.
            log.error("worker %d had died here; cannot end its processes %s", process_id, left)
            continue
        _deliver(conn, process_id, kept.path_of(home, process_id))
        if process_id in pids:
            with transaction(conn, "work.succeed"):
                if processes.end(conn, process_id, "died"):
                    free(conn, process_id, f"worker {hostname}:{pids[process_id]} died")
            log.warning("worker %d had died here; freed its tries", process_id)
        # One that a scheduler had declared lost has no tries any more, but it had processes.
        marker.forget(home, process_id)


def _deliver(conn: Conn, process_id: int, path: Path) -> None:
    """Report what a dead worker kept on disk. A file that cannot be read or stored is set aside."""
    try:
        found = kept.read(path)
        damaged = found.damaged
        if found.records:
            damaged |= not _report(conn, process_id, found.records)
        if damaged:
            aside = kept.set_aside(path)
            log.error("%s: not all of it can be used; it is %s now", path, aside.name)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        log.error("%s cannot be read (%s): its results are lost", path, error.strerror or error)


def _report(conn: Conn, process_id: int, records: Sequence[Record]) -> bool:
    """Whether the database takes them."""
    try:
        with transaction(conn, "work.deliver"):
            counted = hand_in(conn, process_id, records)
    except UNFIT_VALUES as error:
        log.error("results of worker %d do not fit the database: %s", process_id, error)
        return False
    ended = sum(isinstance(one, EndedTry) for one in records)
    log.warning(
        "worker %d had died here with %d results; %d of them count", process_id, ended, len(counted)
    )
    return True
