"""A task stops its parent, the zygote, and the other tasks of the worker end well."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from flow.process import standstill
from roles.work.by_turns import registered, turn
from store.hand_driven import World, spec, task
from waiting import wait_until

DAGS = """
import os, signal, time
from pathlib import Path
from flow import DAG, task

HERE = Path(__file__).parent

def first(name):
    if (HERE / name).exists():
        return False
    (HERE / name).touch()
    return True

def wait_for(name):
    while not (HERE / name).exists():
        time.sleep(0.01)

with DAG("d", schedule="@daily"):
"""

ONCE = """
    @task
    def stops():
        wait_for("beside")
        os.kill(os.getppid(), signal.SIGSTOP)
        (HERE / "stopped").touch()

    @task
    def beside():
        first("beside")
        wait_for("stopped")

    @task
    def after():
        pass

    [stops(), beside()] >> after()
"""

AGAIN_AND_AGAIN = """
    @task
    def stops():
        wait_for("beside")
        while first("stops"):
            while True:
                os.kill(os.getppid(), signal.SIGSTOP)

    @task
    def beside():
        while first("beside"):
            time.sleep(9999)

    @task
    def after():
        pass

    [stops(), beside()] >> after()
"""


def run(world: World, tmp_path: Path, body: str) -> tuple[bool, list[tuple[str, str]]]:
    """Run the DAG; whether the zygote is the same as before, and the tries that were made."""
    world.add(spec("d", task("stops"), task("beside"), task("after", "stops beside")))
    file = tmp_path / "stops.py"
    file.write_text(DAGS + body)
    world.conn.execute("update dag set file = %s", (str(file),))
    with registered(world, tmp_path, slots=2) as worker:
        zygote = worker.host.zygote
        scheduler = world.scheduler()

        def over() -> bool:
            scheduler.run_once()
            # Room for two: the deaths of all have been heard of.
            everything = turn(world, worker) == ["success"] * 3
            return everything and worker.describe().startswith("working: 0 of 2 ")

        wait_until(over, "the end of all tasks")
        world.check()
        tries = world.conn.execute("select task_id, state from try").fetchall()
        return worker.host.zygote == zygote, sorted(tries)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """No pause between two looks."""
    monkeypatch.setattr(standstill, "INTERVAL", 0.0)
    caplog.set_level(logging.WARNING)


def test_one_that_was_stopped_is_continued(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    same, tries = run(world, tmp_path, ONCE)
    assert same
    assert tries == [("after", "success"), ("beside", "success"), ("stops", "success")]
    [warning] = [one for one in caplog.records if one.name == standstill.__name__]
    assert warning.levelno == logging.WARNING
    assert "found stopped (SIGSTOP)" in warning.getMessage()
    assert "continued it (SIGCONT)" in warning.getMessage()


def test_one_that_is_kept_stopped_is_killed_and_its_tries_are_lost(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    same, tries = run(world, tmp_path, AGAIN_AND_AGAIN)
    assert not same
    assert tries == [
        ("after", "success"),
        ("beside", "lost"),
        ("beside", "success"),
        ("stops", "lost"),
        ("stops", "success"),
    ]
    assert "is kept stopped (SIGSTOP)" in caplog.text
    assert "the zygote died" in caplog.text
