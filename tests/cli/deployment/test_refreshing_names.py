"""The names that completion offers are refreshed in the background, by one process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flow.config import load
from flow.ops import pools
from flow_cli.name_cache import Kind, NameCache, cache_of
from operations_world import World
from waiting import wait_until

Run = Callable[..., Any]
TASKS = ["extract", "load.ch", "load.de", "report"]


@pytest.fixture
def cache(sales: World, environment: dict[str, str], project: Path) -> NameCache:
    """The cache of the deployment, which does not exist yet."""
    return cache_of(load(environ=environment, folder=project).settings, environment)


def test_who_asks_gets_names_the_next_time(cache: NameCache, sales: World, flow: Run) -> None:
    pools.set_(sales.deployment, "warehouse", 4)
    assert flow("--complete", "dag", "sal").out == ""
    wait_until(lambda: cache.names(Kind.DAG, ""), "the ids of DAGs")
    assert flow("--complete", "dag", "sal").out == "sales\n"
    assert flow("--complete", "pool", "w").out == "warehouse\n"
    # The only DAG that was offered is likely to be asked about next; somebody may be at it already.
    wait_until(
        lambda: flow("--refresh-names", "sales") and cache.names(Kind.TASK, "", "sales"),
        "the tasks of the DAG",
    )
    assert flow("--complete", "task", "", "sales").out.split() == TASKS
    runs = [f"manual__2026-07-0{day}T00:00:00+00:00" for day in (7, 8, 9)]
    assert flow("--complete", "run", "", "sales").out.split() == [*runs, "latest"]


def test_a_verb_on_a_terminal_refreshes_too(cache: NameCache, flow: Run, on_terminal: Run) -> None:
    assert flow("runs", "list", "sales").code == 0  # in a pipe: it is a script
    assert not cache.folder.exists()
    assert on_terminal("runs", "list", "sales").code == 0
    wait_until(lambda: cache.names(Kind.TASK, "", "sales"), "the tasks of the DAG")
    assert cache.names(Kind.DAG, "") == ["sales"]


def test_one_at_a_time(cache: NameCache, flow: Run) -> None:
    cache.folder.mkdir(parents=True)
    with cache.lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert flow("--refresh-names").code == 0
        assert cache.names(Kind.DAG, "") == []
    assert flow("--refresh-names").code == 0
    assert cache.names(Kind.DAG, "") == ["sales"]


def test_what_is_gone_is_offered_no_more(cache: NameCache, sales: World, flow: Run) -> None:
    assert flow("--refresh-names", "sales", "never_was").code == 0
    assert cache.names(Kind.DAG, "") == ["sales"]
    sales.conn.execute("update dag set present = false")
    assert flow("--refresh-names").code == 0
    assert cache.names(Kind.DAG, "") == []


def test_what_nobody_asked_for_in_a_month_is_removed(cache: NameCache, flow: Run) -> None:
    assert flow("--refresh-names", "sales").code == 0
    for file in cache.folder.iterdir():
        os.utime(file, (0, 0))
    assert flow("--refresh-names").code == 0
    assert sorted(file.name for file in cache.folder.iterdir()) == ["common", "lock"]


def test_a_database_that_is_down_is_not_started(flow: Run, environment: dict[str, str]) -> None:
    assert flow("--refresh-names").code == 0
    assert not Path(environment["FLOW_HOME"]).exists()
