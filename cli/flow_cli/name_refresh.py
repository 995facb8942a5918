"""Refreshing the names that completion offers: in the background, by a process of its own.

flow --refresh-names [--config FILE] [--deployment NAME] [DAG...]

Whoever wants fresh names starts it and goes on; nobody waits for it. It says nothing, one at a time
does the work, and it starts no database that is not running.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from flow.config import load
from flow.errors import FlowError
from flow_cli.arguments import DeploymentChoice, split_deployment
from flow_cli.name_cache import Kind, NameCache, cache_of

if TYPE_CHECKING:
    from flow.settings import Settings

_FLAG: Final = "--refresh-names"
_AGAIN_AFTER: Final = 2.0
"""Seconds from one beginning to the next: what cannot be refreshed is not tried at every key."""
_POLITE: Final = 10
"""What is added to the nice value: nobody waits for this."""


def refresh_soon(cache: NameCache, deployment: DeploymentChoice, dag_ids: Sequence[str]) -> None:
    """Start a process that refreshes the names, and those of some DAGs, if these are old."""
    if not cache.stale(dag_ids) or _begun(cache) < _AGAIN_AFTER or not sys.executable:
        return
    # -P: the current folder may have a module of any name.
    command = [sys.executable, "-P", "-m", "flow_cli", _FLAG, *deployment.words, *dag_ids]
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    try:
        os.posix_spawn(command[0], command, os.environ, file_actions=nothing, setsid=True)
    except OSError:
        return  # there are no more processes to be had; the names stay old


def main(words: Sequence[str]) -> int:
    """Refresh the names of the words behind `--refresh-names`; the exit code."""
    os.nice(_POLITE)
    deployment, dag_ids = split_deployment(words)
    try:
        settings = load(deployment.config_file, deployment.name).settings
        cache = cache_of(settings)
        with _alone(cache) as alone:
            if alone:
                _refresh(cache, settings, dag_ids)
    except (FlowError, OSError):
        return 1
    return 0


def _refresh(cache: NameCache, settings: Settings, dag_ids: Sequence[str]) -> None:
    """Ask the database, if it is running. Raises `FlowError`, `OSError`."""
    from flow.ops import names
    from flow.ops.deployment import is_up, open_deployment

    if not is_up(settings):
        return
    with open_deployment(settings) as deployment:
        common = names.common(deployment)
        of_dags = names.of_dags(deployment, dag_ids)
    cache.write(None, {Kind.DAG: common.dag_ids, Kind.POOL: common.pools})
    for dag_id, of_dag in of_dags.items():
        cache.write(dag_id, {Kind.RUN: of_dag.run_ids, Kind.TASK: of_dag.task_ids})
    cache.forget_old()


@contextmanager
def _alone(cache: NameCache) -> Iterator[bool]:
    """Whether nobody else refreshes this cache, until the end of the block."""
    cache.make()
    descriptor = os.open(
        cache.lock, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600
    )
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            os.utime(descriptor)
            yield True
    finally:
        os.close(descriptor)


def _begun(cache: NameCache) -> float:
    """Seconds since somebody last began; infinite when nobody ever has."""
    try:
        return time.time() - cache.lock.stat().st_mtime
    except OSError:
        return float("inf")
