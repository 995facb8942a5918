"""`flow demo`, the real command: it ends right, and nothing of it is left however it ends."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import flow_cli
from services import note, postgres_found
from waiting import limit

COMMAND = [sys.executable, "-m", "flow_cli"]
HANG = limit(240)
"""Seconds after which a test gives up; nothing waits for this in a good case."""
TILL = Path(flow_cli.__file__).parent / "demo_project" / "dags" / "till.py"


@pytest.fixture
def scratch() -> Iterator[Path]:
    """Where the demo makes its folder: short, and passable for the database's own user."""
    folder = Path(tempfile.mkdtemp(prefix="fd-", dir="/tmp")).resolve()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def surroundings(environment: dict[str, str], scratch: Path) -> dict[str, str]:
    """The environment, also naming a deployment that the demo must leave alone."""
    return {
        **environment,
        "TMPDIR": str(scratch),
        "FLOW_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/production",
        "FLOW_WORKER_SLOTS": "0",
    }


def processes_below(folder: Path) -> list[str]:
    """The processes that name the folder in their arguments, or live in it."""
    found = []
    for process in psutil.process_iter():
        try:
            words = " ".join(process.cmdline())
            if str(folder) in f"{words} {process.cwd()}":
                found.append(f"{process.pid}: {words}")
        except (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied):
            pass
    return found


def totals_of(day: str) -> tuple[int, int]:
    spec = importlib.util.spec_from_file_location("till", TILL)
    till = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(till)
    orders = till.orders_of(day)
    return len(orders), sum(order.pieces * till.PRICES[order.product] for order in orders)


def test_three_nights_and_a_killed_worker_come_out_right(surroundings, project, scratch):
    ended = subprocess.run(
        [*COMMAND, "demo", "-o", "json"],
        cwd=project,
        env=surroundings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    note(postgres_found())
    nights = json.loads(ended.stdout)
    assert [night["run"] for night in nights] == ["success"] * 3
    for night in nights:
        orders, cents = totals_of(night["day"])
        assert (night["orders"], night["revenue"]) == (orders, f"{cents / 100:.2f}")
        assert night["right"] is True
    assert [night["worker_killed"] for night in nights] == [False, True, False]
    assert nights[1]["load_tries"] == ["lost", "success"]
    assert f"(SIGKILL) while it loaded {nights[1]['day']}, at order" in ended.stderr
    assert processes_below(scratch) == []
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("mark", ["A PostgreSQL of its own", "Killed the worker"])
def test_ctrl_c_leaves_nothing(surroundings, project, scratch, mark):
    with subprocess.Popen(
        [*COMMAND, "demo"],
        cwd=project,
        env=surroundings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as process:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if mark in line:
                os.killpg(process.pid, signal.SIGINT)  # as a terminal does
                break
        said += process.stderr.read()
        code = process.wait(HANG)
    assert code == 130, said
    note(postgres_found())
    assert "nothing of it runs any more" in said
    assert processes_below(scratch) == []
    assert list(scratch.iterdir()) == []
