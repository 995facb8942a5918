"""The floors are the agreed ones, and every bench stays within three times its aim."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HANG = 180 * float(os.environ.get("FLOW_TEST_PATIENCE", "1"))
AGREED = {
    "floor_burst.py": "848b41a68f4076b7338d18ff18285acdf74049b7a0e380542af87fba4584e939",
    "floor_commit.py": "f62f021166186a05aec5e077a1730d71b43668a95f6ce4fad81cb659d581da50",
    "floor_fork.py": "2eae90e2a4d4fd3729a46a9713af6bdc1ac4bda3f91cac15cfa6d3aa2e024543",
    "floor_relay.py": "fbaecff65106a6acb7616bab86cab81b8659a20d62b398c20c1350a006d3b990",
}
BENCHES = ("burst", "big_run", "cold_start", "hop", "idle", "throughput")
FIELDS = {"bench", "value", "unit", "floor", "ratio", "aim"}


def test_floors_are_byte_for_byte_the_agreed_ones() -> None:
    found = {path.name: path.read_bytes() for path in (HERE / "floors").iterdir() if path.is_file()}
    assert {name: sha256(text).hexdigest() for name, text in found.items()} == AGREED


@pytest.mark.parametrize("bench", BENCHES)
@pytest.mark.timeout(2 * HANG)
def test_a_bench_of_reduced_size_is_within_three_times_its_aim(bench: str) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / f"{bench}.py"), "--reduced"],
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert done.stdout, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(line.keys() >= FIELDS and line["bench"] == bench for line in lines)
    assert lines[-1]["aim"] is not None
    assert done.returncode == 0, f"an aim was missed by more than three times: {done.stdout}"
