"""T30: a slot of a pool is held from queued to the end, and given back exactly once.

Whatever ends a task: success, failure, a kill by signal, a mark, a clear, the cancel and delete of
its run, the death of its worker. The pool is looked at all the while: never more is taken than
there is, never less than nothing, and when all has ended nothing is. The tasks' own marks say that
no two of them ran at once.

Not yet: deferral, in which a task keeps its slot where the pool says so, and gives it up elsewhere.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cases import marker_file
from cases.breaks import Break
from cases.deployment import Deployment, deployed
from cases.steady import check_log
from waiting import wait_until

NEEDS = ["flow trigger"]

BREAKS = [
    Break(
        "engine/flow/store/gates.py",
        "  where pool = any(%(names)s::text[]) and state in ('queued', 'running', 'restarting')\n"
        "  union all",
        "  where pool = any(%(names)s::text[]) and state = 'queued'\n  union all",
    ),
    Break(
        "engine/flow/store/migrations/versions/0001_core.sql",
        "    where p.slots >= 0)\n  select run_key",
        "    where p.slots >= 0 and false)\n  select run_key",
    ),
    # A slot that is given back by a cancel is nobody's.
    Break(
        "engine/flow/ops/run_endings.py",
        "if target.before in OCCUPYING},\n",
        "if False},\n",
    ),
]

SETTINGS = {
    "worker.heartbeat": 0.5,
    "worker.lost_after": 60,
    "scheduler.sweep_interval": 1,
    "scheduler.poll_interval": 0.5,
}
DAG = """
    import os, signal
    from flow import DAG, task
    from marks import mark, stay

    def over():
        return os.path.exists(os.path.join(os.environ["CASE_MARKS"], "over"))

    def make(name, body):
        task(task_id=name, pool="p")(body)()

    def succeeds():
        stay(0.2, "p")

    def fails():
        stay(0.2, "p")
        raise RuntimeError("on purpose")

    def dies():
        stay(0.2, "p")
        os.kill(os.getpid(), signal.SIGKILL)

    def lasts():
        stay(600, "p", until=over)

    with DAG("ends", schedule=None):
        for number in range(2):
            make("succeeds_" + str(number), succeeds)
        make("fails", fails)
        make("dies", dies)

    for name in ("marked", "deleted", "cleared", "orphaned"):
        with DAG(name, schedule=None):
            make("lasts", lasts)
    """


@pytest.fixture
def running() -> Iterator[Deployment]:
    """A deployment with a pool of one slot, whose scheduler runs."""
    with deployed(SETTINGS) as deployment:
        assert deployment.flow("db", "migrate").code == 0
        assert deployment.flow("pools", "set", "p", "1", "--include-deferred").code == 0
        deployment.write("slots.py", DAG)
        deployment.parse()
        deployment.start("schedule")
        yield deployment


def pool(deployment: Deployment) -> dict[str, int]:
    """The pool as `flow pools list` has it."""
    return next(dict(one) for one in deployment.ask("pools", "list") if one["name"] == "p")


def taken(deployment: Deployment) -> int:
    """Slots in use."""
    found = pool(deployment)
    return found["queued"] + found["running"] + found["deferred"]


@contextmanager
def watched(deployment: Deployment) -> Iterator[list[int]]:
    """Sample the pool for as long as the block takes."""
    samples: list[int] = []
    over = threading.Event()

    def sample() -> None:
        while not over.is_set():
            samples.append(taken(deployment))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()


def waits_for_slot(deployment: Deployment, dag_id: str, run_id: str) -> bool:
    """Whether its task is ready, and says that another one has the slot."""
    if deployment.states(dag_id, run_id) != {"lasts": "scheduled"}:
        return False
    said = deployment.ask("why", dag_id, run_id, "lasts")["reasons"]
    return [one["code"] for one in said] == ["pool_full", "pool_holder"]


def delete(deployment: Deployment, dag_id: str, run_id: str) -> None:
    """Delete a run in the midst of it: that is refused, then it is cancelled, and then deleted."""
    refused = deployment.flow("runs", "delete", dag_id, run_id, "--yes")
    assert refused.code == 4, refused.err
    done = deployment.flow("runs", "cancel", dag_id, run_id, "--yes")
    assert done.code == 0, done.err

    def deleted() -> bool:
        done = deployment.flow("runs", "delete", dag_id, run_id, "--yes")
        assert done.code == 0 or "is still being stopped" in done.err, done.err
        return done.code == 0

    wait_until(deleted, "its process to be dead, and it to be deleted")
    assert deployment.ask("runs", "list", dag_id) == []


def test_a_slot_is_given_back_once_however_its_task_ends(running: Deployment) -> None:
    def starts() -> int:
        return len(marker_file.lives(running.marks("p")))

    first = running.start("work")
    with watched(running) as samples:
        ends = running.run_to_end("ends")
        assert ends["state"] == "failed"
        assert starts() == 4

        marked = running.run("marked")
        wait_until(lambda: starts() == 5, "the task to run")
        done = running.flow("tasks", "mark", "marked", marked, "lasts", "failed", "--yes")
        assert done.code == 0, done.err
        deleted = running.run("deleted")
        wait_until(lambda: starts() == 6, "its slot to go to the next one")
        cleared = running.run("cleared")
        wait_until(
            lambda: waits_for_slot(running, "cleared", cleared) or set(samples) - {0, 1},
            "the next one to wait, or to have a slot that is another one's",
        )
        assert set(samples) <= {0, 1}
        delete(running, "deleted", deleted)
        wait_until(lambda: starts() == 7, "its slot to go to the next one")
        assert running.flow("clear", "cleared", cleared, "--yes").code == 0
        wait_until(lambda: starts() == 8, "the cleared task to begin anew")

        orphaned = running.run("orphaned")
        first.kill()
        running.start("work")
        wait_until(lambda: starts() == 9, "the task of the dead worker to begin anew")
        (running.folder / "m" / "over").touch()
        assert running.wait_for_run("cleared", cleared)["state"] == "success"
        assert running.wait_for_run("orphaned", orphaned)["state"] == "success"
        wait_until(lambda: taken(running) == 0, "the slot to be given back")
    assert samples
    assert set(samples) <= {0, 1}
    assert pool(running)["open"] == 1
    assert marker_file.overlaps(running.marks("p")) == []
    for role in running.roles:
        check_log(role)
