"""What a seed says, and that the driver stands apart from what it judges."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chaos.plan import LEAST, TARGETS, draw
from loaded import loaded

TESTS = Path(__file__).parents[1]
SKEWED = Path(__file__).with_name("skewed")


@pytest.mark.parametrize("kills", [60, 300])
def test_some_of_each_and_as_many_kills_as_asked_for(kills: int) -> None:
    faults = draw(random.Random(7), kills, 5.0)
    struck = Counter((fault.kind, fault.target) for fault in faults)
    assert set(struck) == {(kind, target) for kind, all_ in TARGETS.items() for target in all_}
    assert min(struck.values()) >= LEAST
    assert sum(fault.kind == "kill" for fault in faults) == kills


def test_a_seed_is_a_plan() -> None:
    assert draw(random.Random(7), 60, 5.0) == draw(random.Random(7), 60, 5.0)
    assert draw(random.Random(7), 60, 5.0) != draw(random.Random(8), 60, 5.0)


def test_stops_end_before_a_worker_is_lost_and_freezes_after_it() -> None:
    seconds = [(one.kind, one.seconds) for one in draw(random.Random(7), 300, 5.0)]
    assert max(s for kind, s in seconds if kind == "stop") < 5.0
    assert min(s for kind, s in seconds if kind == "freeze") > 5.0


def test_too_few_kills() -> None:
    with pytest.raises(ValueError, match="20 kills"):
        draw(random.Random(7), 20, 5.0)


def test_the_driver_loads_nothing_of_flow() -> None:
    ours = {"chaos.story", "chaos.judge", "chaos.line", "chaos.hand"}
    modules = loaded("import chaos.soak", {**os.environ, "PYTHONPATH": str(TESTS)})
    assert ours <= modules
    assert {
        name for name in modules if name.partition(".")[0] in ("flow", "flow_cli", "psycopg")
    } == set()


def test_a_skewed_clock_is_wrong_and_the_others_are_not() -> None:
    code = """
import time
from datetime import UTC, datetime
print(time.time(), datetime.now(UTC).timestamp(), time.time_ns() / 1e9, time.monotonic())
print(type(datetime.now(UTC)) is datetime and datetime.now().tzinfo is None)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SKEWED), "CHAOS_SKEW": "5000"},
        capture_output=True,
        text=True,
        check=True,
    )
    first, same_type = done.stdout.splitlines()
    *skewed, monotonic = map(float, first.split())
    now = datetime.now(UTC).timestamp()
    assert all(4900 < one - now < 5001 for one in skewed)
    assert monotonic < skewed[0] / 2
    assert same_type == "True"
