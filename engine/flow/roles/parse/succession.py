"""A DAG processor's death, as its successor on the same host finds it."""

from __future__ import annotations

import logging
import os
import socket

from flow.store import processes
from flow.store.connect import Conn, transaction

log = logging.getLogger(__name__)


def succeed(conn: Conn) -> None:
    """Close the rows of processors that died here: their files are free at once."""
    host = socket.gethostname()
    for one in processes.on_host(conn, "parse", host):
        if one.pid != os.getpid() and _is_alive(one.pid):
            continue
        with transaction(conn, "parse.succeed"):
            ended = processes.end(conn, one.process_id, "died")
        if ended:
            log.warning("DAG processor %d had died here (pid %d)", one.process_id, one.pid)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another user's
    return True
